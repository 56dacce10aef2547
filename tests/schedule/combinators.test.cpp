// SPDX-License-Identifier: Apache-2.0

#include "schedule/proven.hpp"
#include "test.hpp"

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/schedule/view.hpp>

#include <tuple>
#include <type_traits>

using hccl::AllGather;
using hccl::AllReduce;
using hccl::BinomialTree;
using hccl::Broadcast;
using hccl::Bruck;
using hccl::DoubleBinaryTree;
using hccl::group;
using hccl::Mesh;
using hccl::NHR;
using hccl::Pairwise;
using hccl::Pipeline;
using hccl::Pipelined;
using hccl::RecursiveDoubling;
using hccl::RecursiveHalvingDoubling;
using hccl::Reduce;
using hccl::ReduceScatter;
using hccl::Reproducible;
using hccl::Reversed;
using hccl::Ring;
using hccl::Star;
using hccl::Then;

namespace {

/// What a schedule sends between different ranks.
struct traffic {
  int messages = 0;
  int blocks = 0;
};

template <class A, class C>
traffic counted(int ranks, const C& c = {}) {
  traffic sum;
  const group g{ranks};
  for (int round = 0; round < A::rounds(c, g); ++round) {
    for (int self = 0; self < ranks; ++self) {
      A::steps(c, g, self, round, [&](const hccl::step& s) {
        if (s.what != hccl::action::send || s.peer == self) return;
        sum.messages += 1;
        sum.blocks += s.blocks.count;
      });
    }
  }
  return sum;
}

using combined =
    std::tuple<Then<Ring, Mesh>, Then<Mesh, Ring>, Then<RecursiveHalvingDoubling, Ring>,
               Then<BinomialTree, Ring>, Then<BinomialTree, Star>, Then<Reproducible, Bruck>,
               Then<Pipeline, DoubleBinaryTree>, Then<Pipelined<Ring, 2>, Pipelined<Mesh, 3>>,
               Pipelined<Ring, 2>, Pipelined<Mesh, 2>, Pipelined<NHR, 3>, Pipelined<BinomialTree, 4>,
               Pipelined<DoubleBinaryTree, 4>, Pipelined<Reproducible, 2>, Pipelined<Pairwise, 2>,
               Pipelined<Bruck, 2>, Pipelined<RecursiveDoubling, 2>, Pipelined<Then<Ring, Mesh>, 2>,
               Reversed<Ring>, Reversed<RecursiveHalvingDoubling>, Reversed<DoubleBinaryTree>,
               Pipelined<Reversed<Mesh>, 2>>;

}  // namespace

TEST_CASE("Combined schedules are named after their parts") {
  CHECK(Reversed<Ring>::name == "reversed ring");
  CHECK(Then<Ring, Mesh>::name == "ring then mesh");
  CHECK(Pipelined<BinomialTree, 4>::name == "pipelined binomial_tree");
  CHECK(Pipelined<Then<Ring, Mesh>, 2>::name == "pipelined ring then mesh");
}

TEST_CASE("What an algorithm does not write is derived") {
  CHECK(std::is_same_v<hccl::schedule_of<Ring, ReduceScatter>, Ring>);
  CHECK(std::is_same_v<hccl::schedule_of<Ring, AllGather>, Reversed<Ring>>);
  CHECK(std::is_same_v<hccl::schedule_of<Ring, hccl::Gather>, Reversed<Ring>>);
  CHECK(std::is_same_v<hccl::schedule_of<Ring, Reduce>, Then<Ring, Ring>>);
  CHECK(std::is_same_v<hccl::schedule_of<Ring, Broadcast>, Then<Ring, Ring>>);
  CHECK(std::is_same_v<hccl::schedule_of<BinomialTree, Broadcast>, Reversed<BinomialTree>>);
  CHECK(std::is_same_v<hccl::schedule_of<Ring, AllReduce>, Then<Ring, Ring>>);
  CHECK(std::is_same_v<hccl::schedule_of<BinomialTree, AllReduce>, Then<BinomialTree, BinomialTree>>);
  CHECK_FALSE(hccl::Offers<BinomialTree, ReduceScatter>);
  CHECK_FALSE(hccl::Offers<BinomialTree, AllGather>);
  CHECK_FALSE(hccl::Offers<Pipelined<BinomialTree, 2>, AllGather>);
  CHECK_FALSE(hccl::Offers<Reversed<Ring>, AllReduce>);
}

TEST_CASE("Reversed takes as many rounds, messages and blocks") {
  for (const int n : {2, 3, 8}) {
    CHECK(Reversed<Ring>::rounds(AllGather{}, group{n}) == n - 1);
    CHECK(counted<Reversed<Ring>, AllGather>(n).messages == n * (n - 1));
    CHECK(counted<Reversed<Ring>, AllGather>(n).blocks == n * (n - 1));
    CHECK(counted<Reversed<BinomialTree>, Broadcast>(n, {n - 1}).messages == n - 1);
  }
  CHECK(Reversed<BinomialTree>::rounds(Broadcast{2}, group{5}) == 3);
}

TEST_CASE("Then does one schedule after the other") {
  for (const int n : {2, 3, 8}) {
    CHECK(Then<Ring, Mesh>::rounds(AllReduce{}, group{n}) == n - 1 + 1);
    CHECK(counted<Then<Ring, Mesh>, AllReduce>(n).messages == 2 * n * (n - 1));
    CHECK(counted<Then<BinomialTree, BinomialTree>, AllReduce>(n).messages == 2 * (n - 1));
  }
  CHECK(hccl::keeps_order<Then<Mesh, Ring>, AllReduce>);
  CHECK_FALSE(hccl::keeps_order<Then<Ring, Mesh>, AllReduce>);
}

TEST_CASE("Pipelined cuts blocks and overlaps rounds") {
  for (const int n : {2, 3, 8}) {
    using Three = Pipelined<Ring, 3>;
    CHECK(Three::rounds(ReduceScatter{}, group{n}) == n - 1 + 2);
    CHECK(Three::blocks(ReduceScatter{}, group{n}) == 3 * n);
    CHECK(counted<Three, ReduceScatter>(n).messages == 3 * n * (n - 1));
    CHECK(counted<Pipelined<BinomialTree, 4>, Reduce>(n).blocks == 4 * (n - 1));
    CHECK(counted<Pipelined<Ring, 1>, ReduceScatter>(n).messages == n * (n - 1));
  }
  CHECK(hccl::keeps_order<Pipelined<BinomialTree, 2>, Reduce>);
  CHECK_FALSE(hccl::keeps_order<Pipelined<Ring, 2>, Reduce>);
}

TEMPLATE_LIST_TEST_CASE("combined schedules are proven for up to 128 ranks", "", combined) {
  int proofs = 0;
  for (int n = 1; n <= 128; n == 40 ? n = 127 : ++n) {
    const group g{n};
    proofs += hccl_test::expect_proven<TestType>(g, hccl_test::some_roots(g));
  }
  CHECK(proofs >= 42);
}

TEST_CASE("hosts that would take too many blocks are refused, and Auto does without a hierarchy") {
  const hccl::topology hosts({{29, 23, 19, 17, 13, 11, 9, 8, 7, 5}});
  const group g(hosts.size(), hosts);
  CHECK_THROWS_AS(hccl::schedule_view::of<hccl::AHC>(AllReduce{}, g), hccl::error);
  CHECK_THROWS_AS(hccl::schedule_view::of<hccl::AHC>(ReduceScatter{}, g), hccl::error);
  CHECK(hccl::schedule_view::of<hccl::AHC>(hccl::Scatter{}, g).blocks() == g.size());

  hccl::detail::chooser choices;
  const hccl::detail::situation s{g, 1000, {1e-5, 1e-6, 1e-10, 1e-10}, true};
  const auto chosen = choices.by_price<AllReduce>(s).chosen->view({}, g);
  CHECK(chosen.rounds() > 0);
  CHECK(chosen.blocks() > 0);
}
