// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/recursive_halving_doubling.hpp>
#include <hccl/algorithm/reproducible.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/verify.hpp>

#include <set>
#include <string>

namespace {

constexpr int most_ranks = 128;

template <class A, class C>
void expect_correct(int ranks, const C& collective = {}) {
  const hccl::verdict v = hccl::verify<A, C>(hccl::group{ranks}, collective);
  INFO(C::name << " over " << ranks << ": rank " << v.rank << ", round " << v.round << ", block " << v.block);
  CHECK(v.what == hccl::fault::none);
}

/// Verifies A for the collective C, if A offers it, for every number of ranks, with the first, the middle and the last as root.
template <class A, class C>
void expect_correct_if_offered() {
  if constexpr (hccl::Offers<A, C>) {
    for (int n = 1; n <= most_ranks; ++n) {
      if constexpr (hccl::Rooted<C>) {
        for (const int root : std::set{0, n / 2, n - 1}) expect_correct<A>(n, C{root});
      } else {
        expect_correct<A, C>(n);
      }
    }
  }
}

template <class A>
void expect_all_correct() {
  expect_correct_if_offered<A, hccl::AllReduce>();
  expect_correct_if_offered<A, hccl::ReduceScatter>();
  expect_correct_if_offered<A, hccl::AllGather>();
  expect_correct_if_offered<A, hccl::Broadcast>();
  expect_correct_if_offered<A, hccl::Reduce>();
}

/// The collectives that A offers, in words.
template <class A>
std::string offers() {
  std::string all;
  const auto add = [&]<class C>(const C&) {
    if (hccl::Offers<A, C>) all += (all.empty() ? "" : " ") + std::string(C::name);
  };
  add(hccl::AllReduce{});
  add(hccl::ReduceScatter{});
  add(hccl::AllGather{});
  add(hccl::Broadcast{});
  add(hccl::Reduce{});
  return all;
}

template <class A>
constexpr bool keeps_order_in(auto... collectives) {
  return (hccl::keeps_order<hccl::schedule_of<A, decltype(collectives)>, decltype(collectives)> && ...);
}

}  // namespace

TEST_CASE("Ring is correct for 1 to 128 ranks") { expect_all_correct<hccl::Ring>(); }

TEST_CASE("Mesh is correct for 1 to 128 ranks") { expect_all_correct<hccl::Mesh>(); }

TEST_CASE("OneShotMesh is correct for 1 to 128 ranks") { expect_all_correct<hccl::OneShotMesh>(); }

TEST_CASE("RecursiveHalvingDoubling is correct for 1 to 128 ranks") { expect_all_correct<hccl::RecursiveHalvingDoubling>(); }

TEST_CASE("BinomialTree is correct for 1 to 128 ranks") { expect_all_correct<hccl::BinomialTree>(); }

TEST_CASE("Reproducible is correct for 1 to 128 ranks") { expect_all_correct<hccl::Reproducible>(); }

TEST_CASE("Algorithms offer what they are documented to") {
  const std::string all = "allreduce reduce_scatter allgather broadcast reduce";
  CHECK(offers<hccl::Ring>() == all);
  CHECK(offers<hccl::Mesh>() == all);
  CHECK(offers<hccl::OneShotMesh>() == all);
  CHECK(offers<hccl::RecursiveHalvingDoubling>() == all);
  CHECK(offers<hccl::BinomialTree>() == "allreduce broadcast reduce");
  CHECK(offers<hccl::Reproducible>() == all);
}

TEST_CASE("Algorithms keep rank order where they are documented to") {
  using hccl::AllReduce;
  using hccl::Reduce;
  using hccl::ReduceScatter;
  CHECK(keeps_order_in<hccl::Mesh>(AllReduce{}, ReduceScatter{}, Reduce{}));
  CHECK(keeps_order_in<hccl::OneShotMesh>(AllReduce{}, ReduceScatter{}, Reduce{}));
  CHECK(keeps_order_in<hccl::RecursiveHalvingDoubling>(AllReduce{}, Reduce{}));
  CHECK_FALSE(keeps_order_in<hccl::RecursiveHalvingDoubling>(ReduceScatter{}));
  CHECK(keeps_order_in<hccl::BinomialTree>(AllReduce{}, Reduce{}));
  CHECK(keeps_order_in<hccl::Reproducible>(AllReduce{}, ReduceScatter{}, Reduce{}));
  CHECK_FALSE(keeps_order_in<hccl::Ring>(AllReduce{}));
  CHECK_FALSE(keeps_order_in<hccl::Ring>(ReduceScatter{}));
  CHECK_FALSE(keeps_order_in<hccl::Ring>(Reduce{}));
}
