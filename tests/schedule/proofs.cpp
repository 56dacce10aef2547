// SPDX-License-Identifier: Apache-2.0

// The built-in schedules are correct for up to 8 ranks: this file compiles. Of each algorithm one function that emits
// steps is proven for 2 to 8 ranks and the others for 6, with the last rank as root; what is derived from them
// (mirror images, one collective after another, segments) by an example each. algorithm/algorithms.test.cpp proves every
// collective of every algorithm for up to 128 ranks, at run time.

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/schedule/verify.hpp>

namespace {

using namespace hccl;  // the names of all algorithms

/// The collective C over some ranks, with the last one as root if it has one.
template <class C>
consteval C over(int ranks) {
  if constexpr (Rooted<C>) return C{ranks - 1};
  return C{};
}

/// A's schedule for C over some ranks is correct: one constant evaluation, so that none runs out of steps.
template <class A, class C, int Ranks>
consteval bool proven_over() {
  static_assert(verify<A, C>(group{Ranks}, over<C>(Ranks)));
  return true;
}

/// A's schedules for Cs are correct over 2 to 8 ranks.
template <class A, class... Cs>
consteval bool proven() {
  return ((proven_over<A, Cs, 2>() && proven_over<A, Cs, 3>() && proven_over<A, Cs, 4>() &&
           proven_over<A, Cs, 5>() && proven_over<A, Cs, 6>() && proven_over<A, Cs, 7>() &&
           proven_over<A, Cs, 8>()) &&
          ...);
}

/// A's schedules for Cs are correct over 6 ranks.
template <class A, class... Cs>
consteval bool sampled() {
  return (proven_over<A, Cs, 6>() && ...);
}

/// A's schedule for C is correct over two hosts, the first with two ranks and the other with one.
template <class A, class C>
consteval bool proven_over_hosts() {
  const topology hosts({{2, 1}});
  return static_cast<bool>(verify<A, C>(group(3, hosts), over<C>(3)));
}

static_assert(proven<Ring, ReduceScatter>() && sampled<Ring, Scatter>());
static_assert(proven<Mesh, ReduceScatter>() && sampled<Mesh, Scatter, AllToAllV>());
static_assert(proven<OneShotMesh, AllReduce>() &&
              sampled<OneShotMesh, Reduce>());  // the rest is that of Mesh
static_assert(proven<RecursiveHalvingDoubling, AllReduce>() &&
              sampled<RecursiveHalvingDoubling, ReduceScatter, Reduce>());
static_assert(proven<RecursiveDoubling, AllReduce>() && sampled<RecursiveDoubling, Scan, ExScan>());
static_assert(proven<NHR, ReduceScatter>());  // its scatter is that of BinomialTree
static_assert(proven<NonuniformBruck, ReduceScatter>());
static_assert(proven<Bruck, AllGather>() && sampled<Bruck, AllToAll>());
static_assert(proven<Pairwise, AllToAllV>());
static_assert(proven<Star, Reduce>());  // its scatter is that of Mesh
static_assert(proven<BinomialTree, Reduce>() && sampled<BinomialTree, Scatter>());
static_assert(proven<DoubleBinaryTree, Reduce>());
static_assert(proven<Pipeline, Reduce>() && sampled<Pipeline, Scan, ExScan>());
static_assert(
    proven_over<ParallelAggregatedTrees, ReduceScatter, 9>());  // with fewer ranks it is NonuniformBruck
static_assert(proven<Swing, AllReduce>());
static_assert(proven<Reproducible, AllReduce>() && sampled<Reproducible, ReduceScatter, Reduce>());

static_assert(proven_over_hosts<AHC, AllReduce>() && proven_over_hosts<AHC, ReduceScatter>() &&
              proven_over_hosts<AHC, Scatter>());
static_assert(proven_over<Reversed<RecursiveHalvingDoubling>, AllGather, 5>());
static_assert(proven_over<Then<Ring, Mesh>, AllReduce, 3>());
static_assert(proven_over<Pipelined<Ring, 2>, AllReduce, 3>());
static_assert(proven_over<Pipelined<BinomialTree, 2>, Broadcast, 3>());

}  // namespace
