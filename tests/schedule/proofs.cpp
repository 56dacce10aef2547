// SPDX-License-Identifier: Apache-2.0

// The built-in schedules are correct for up to 8 ranks: this file compiles. algorithm/algorithms.test.cpp
// proves every collective for up to 128, at run time.

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

namespace {

using hccl::AllGather;
using hccl::AllReduce;
using hccl::Broadcast;
using hccl::Reduce;
using hccl::ReduceScatter;

/// The collective C over some ranks, with the last one as root if it has one.
template <class C>
consteval C over(int ranks) {
  if constexpr (hccl::Rooted<C>) return C{ranks - 1};
  return C{};
}

/// A's schedule for C over some ranks is correct: one constant evaluation, so that none runs out of steps.
template <class A, class C, int Ranks>
consteval bool proven_over() {
  static_assert(hccl::verify<A, C>(hccl::group{Ranks}, over<C>(Ranks)));
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

// Allgather and broadcast are mirror images, which the allreduce of Ring, Mesh and BinomialTree contains.
static_assert(proven<hccl::Ring, AllReduce, Reduce>());
static_assert(proven<hccl::Mesh, AllReduce, Reduce>());
static_assert(proven<hccl::OneShotMesh, AllReduce, Reduce>());
static_assert(proven<hccl::RecursiveHalvingDoubling, AllReduce, ReduceScatter, Reduce>());
static_assert(proven<hccl::BinomialTree, AllReduce, Reduce>());
static_assert(proven<hccl::Reproducible, AllReduce, Reduce>());

static_assert(proven_over<hccl::Then<hccl::Ring, hccl::Mesh>, AllReduce, 3>());
static_assert(proven_over<hccl::Reversed<hccl::RecursiveHalvingDoubling>, AllGather, 3>());
static_assert(proven_over<hccl::Pipelined<hccl::Ring, 2>, AllReduce, 3>());
static_assert(proven_over<hccl::Pipelined<hccl::BinomialTree, 2>, Broadcast, 3>());

}  // namespace
