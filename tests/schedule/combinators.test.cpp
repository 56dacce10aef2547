// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/verify.hpp>

#include <type_traits>

using hccl::AllGather;
using hccl::AllReduce;
using hccl::BinomialTree;
using hccl::Broadcast;
using hccl::group;
using hccl::Mesh;
using hccl::Pipelined;
using hccl::Reduce;
using hccl::ReduceScatter;
using hccl::Reversed;
using hccl::Ring;
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
  CHECK(std::is_same_v<hccl::schedule_of<Ring, Broadcast>, Reversed<Ring>>);
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

TEST_CASE("Combined schedules are correct") {
  for (int n = 1; n <= 12; ++n) {
    CHECK(hccl::verify<Then<Ring, Mesh>, AllReduce>(group{n}));
    CHECK(hccl::verify<Then<Mesh, Ring>, AllReduce>(group{n}));
    CHECK(hccl::verify<Then<BinomialTree, Ring>, AllReduce>(group{n}));
    CHECK(hccl::verify<Pipelined<Ring, 3>, AllReduce>(group{n}));
    CHECK(hccl::verify<Pipelined<Ring, 2>, AllGather>(group{n}));
    CHECK(hccl::verify<Pipelined<Mesh, 2>, ReduceScatter>(group{n}));
    CHECK(hccl::verify<Then<Pipelined<Ring, 2>, Pipelined<Mesh, 2>>, AllReduce>(group{n}));
    for (int root = 0; root < n; ++root) {
      CHECK(hccl::verify<Pipelined<BinomialTree, 4>, Reduce>(group{n}, {root}));
      CHECK(hccl::verify<Pipelined<Ring, 2>, Broadcast>(group{n}, {root}));
    }
  }
}
