// SPDX-License-Identifier: Apache-2.0
#pragma once

// ParallelAggregatedTrees: binomial trees of all blocks, with messages of bounded size.

#include <hccl/algorithm/detail/offset_trees.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>

#include <bit>
#include <string_view>

namespace hccl::inline v0 {

/// Parallel aggregated trees (PAT): reduce-scatter and allgather of which no message holds more than
/// `aggregation` blocks, so that intermediate buffers stay small, and far hops carry the fewest.
///
/// Over p ranks the trees are cut in p / aggregation parts, rounded up to a power of two s. They are walked one
/// after the other, in s - 1 rounds, and joined in ceil(log2(p / s)) rounds. (p-1)/p of the vector sent per rank. Up
/// to 8 ranks it is `NonuniformBruck`. The reduction must commute.
///
/// Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025.
struct ParallelAggregatedTrees {
  static constexpr std::string_view name = "parallel_aggregated_trees";

  static constexpr int aggregation = 8;

  static constexpr int rounds(const ReduceScatter&, const group& g) { return trees(g).rounds(); }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    trees(g).steps(self, round, emit);
  }

 private:
  static constexpr detail::offset_trees<+1> trees(const group& g) {
    const int parts = (g.size() + aggregation - 1) / aggregation;
    return {g, static_cast<int>(std::bit_ceil(static_cast<unsigned>(parts)))};
  }
};

}  // namespace hccl::inline v0
