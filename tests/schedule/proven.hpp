// SPDX-License-Identifier: Apache-2.0
#pragma once

// Proofs of all that an algorithm offers, as checks of a test.

#include "test.hpp"

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/verify.hpp>

#include <set>
#include <tuple>
#include <vector>

namespace hccl_test {

/// Calls `f.template operator()<C>()` for every collective C that A offers.
template <class A>
void for_each_offered(auto&& f) {
  const auto consider = [&]<class C>() {
    if constexpr (hccl::Offers<A, C>) f.template operator()<C>();
  };
  [&]<class... Cs>(const std::tuple<Cs...>*) {
    (consider.template operator()<Cs>(), ...);
  }(static_cast<const hccl::collectives*>(nullptr));
}

/// The first, the middle and the last rank.
inline std::set<int> some_roots(const hccl::group& g) { return {0, g.size() / 2, g.size() - 1}; }

inline std::set<int> every_root(const hccl::group& g) {
  std::set<int> roots;
  for (int root = 0; root < g.size(); ++root) roots.insert(root);
  return roots;
}

/// The collective C with each of the roots, or once if it has none.
template <class C>
std::vector<C> rooted_at(const std::set<int>& roots) {
  std::vector<C> all;
  if constexpr (hccl::Rooted<C>) {
    for (const int root : roots) all.push_back(C{root});
  } else {
    all.emplace_back();
  }
  return all;
}

/// Checks that A's schedules over g are correct for every collective that A offers. Returns how many there are.
template <class A>
int expect_proven(const hccl::group& g, const std::set<int>& roots) {
  int proofs = 0;
  for_each_offered<A>([&]<class C>() {
    for (const C& c : rooted_at<C>(roots)) {
      const hccl::verdict v = hccl::verify<A>(g, c);
      ++proofs;
      if (v) continue;
      INFO(A::name << ", " << C::name << " from " << hccl::root_of(c) << ", " << g.size() << " ranks: rank "
                   << v.rank << ", round " << v.round << ", block " << v.block << ": " << to_string(v.what));
      CHECK(v);
    }
  });
  return proofs;
}

}  // namespace hccl_test
