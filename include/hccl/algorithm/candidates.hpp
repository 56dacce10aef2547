// SPDX-License-Identifier: Apache-2.0
#pragma once

// The algorithms among which Auto chooses.

#include <hccl/algorithm/ahc.hpp>
#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/bruck.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/nhr.hpp>
#include <hccl/algorithm/nonuniform_bruck.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/pairwise.hpp>
#include <hccl/algorithm/pipeline.hpp>
#include <hccl/algorithm/recursive_doubling.hpp>
#include <hccl/algorithm/recursive_halving_doubling.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/hierarchical.hpp>
#include <hccl/schedule/view.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

namespace hccl::inline v0 {

/// The algorithms among which `Auto` chooses, by the name that a rule gives or by price; of equal prices the first
/// wins. `Hierarchical` ones count where there is more than one host.
using candidates =
    std::tuple<Mesh, OneShotMesh, RecursiveDoubling, RecursiveHalvingDoubling, NHR, Ring, BinomialTree, Bruck,
               Pairwise, Pipeline, NonuniformBruck, AHC, Hierarchical<Mesh, NHR>, Hierarchical<Mesh, Ring>>;

namespace detail {

template <class A>
inline constexpr bool is_hierarchical = false;
template <class Intra, class Inter>
inline constexpr bool is_hierarchical<Hierarchical<Intra, Inter>> = true;

/// A candidate that offers the collective C.
template <Collective C>
struct offer {
  std::string_view algorithm;
  bool keeps_order = false;
  bool needs_hosts = false;  // more than one
  schedule_view (*view)(const C&, const group&) = nullptr;
};

/// The candidates that offer C.
template <Collective C>
inline constexpr auto offers = []<class... As>(const std::tuple<As...>*) {
  std::array<offer<C>, (std::size_t{Offers<As, C>} + ...)> all;
  auto next = all.begin();
  const auto add = [&]<class A>() {
    if constexpr (Offers<A, C>)
      *next++ = {A::name, keeps_order<schedule_of<A, C>, C>, is_hierarchical<A>, &schedule_view::of<A, C>};
  };
  (add.template operator()<As>(), ...);
  return all;
}(static_cast<const candidates*>(nullptr));

}  // namespace detail

}  // namespace hccl::inline v0
