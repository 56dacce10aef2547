// SPDX-License-Identifier: Apache-2.0

// The built-in schedules are correct: this file compiles. Up to 8 ranks; algorithm/algorithms.test.cpp goes on.

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

#include <utility>

namespace {

using hccl::AllGather;
using hccl::AllReduce;
using hccl::Broadcast;
using hccl::Reduce;
using hccl::ReduceScatter;

/// One constant evaluation for each number of ranks and root, so that none runs out of steps.
template <class A, class C, int Ranks, int Root>
inline constexpr bool is_correct = [] {
  if constexpr (hccl::Rooted<C>) {
    return static_cast<bool>(hccl::verify<A, C>(hccl::group{Ranks}, C{Root}));
  } else {
    return static_cast<bool>(hccl::verify<A, C>(hccl::group{Ranks}));
  }
}();

template <class A, class C, int Ranks>
consteval bool prove() {
  static_assert(is_correct<A, C, Ranks, 0>);
  if constexpr (hccl::Rooted<C>) {
    static_assert(is_correct<A, C, Ranks, Ranks / 2>);
    static_assert(is_correct<A, C, Ranks, Ranks - 1>);
  }
  return true;
}

template <class A, class C, int... Less>
consteval bool prove_sizes(std::integer_sequence<int, Less...>) {
  return (prove<A, C, Less + 1>() && ...);
}

/// A is correct for each of the collectives Cs, for 1 to 8 ranks, with the first, the middle and the last as root.
template <class A, class... Cs>
consteval bool proven() {
  return (prove_sizes<A, Cs>(std::make_integer_sequence<int, 8>()) && ...);
}

static_assert(proven<hccl::Ring, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce>());
static_assert(proven<hccl::Mesh, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce>());
static_assert(proven<hccl::OneShotMesh, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce>());
static_assert(proven<hccl::RecursiveHalvingDoubling, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce>());
static_assert(proven<hccl::BinomialTree, AllReduce, Broadcast, Reduce>());
static_assert(proven<hccl::Reproducible, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce>());

static_assert(proven<hccl::Then<hccl::Ring, hccl::Mesh>, AllReduce>());
static_assert(proven<hccl::Pipelined<hccl::Ring, 2>, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce>());
static_assert(proven<hccl::Pipelined<hccl::BinomialTree, 2>, AllReduce, Broadcast, Reduce>());

}  // namespace
