// SPDX-License-Identifier: Apache-2.0
#pragma once

// NonuniformBruck: logarithmic rounds and optimal bytes for any number of ranks.

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/detail/offset_trees.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// The nonuniform Bruck algorithm. Reduce-scatter: in round k a rank sends to the one 2^k below it the blocks
/// that have that many ranks to go, modulo 2^(k+1): floor((p - 1 + 2^k) / 2^(k+1)) blocks.
///
/// ceil(log2 p) rounds and (p-1)/p of the vector sent per rank, for any p, in one message a round or, where what is
/// at hand lies in two places, two; allgather is its mirror image. Scatter
/// goes down a binomial tree. Allreduce, reduce and broadcast are made of two of these. The reduction must commute.
///
/// Source: HCCL's description of "NB"; blocks keep their places, since a step names strided blocks.
struct NonuniformBruck {
  static constexpr std::string_view name = "nonuniform_bruck";

  static constexpr int rounds(const ReduceScatter&, const group& g) { return trees(g).rounds(); }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    trees(g).steps(self, round, emit);
  }

  static constexpr int rounds(const Scatter& c, const group& g) { return BinomialTree::rounds(c, g); }

  static constexpr void steps(const Scatter& c, const group& g, int self, int round, auto&& emit) {
    BinomialTree::steps(c, g, self, round, emit);
  }

 private:
  static constexpr detail::offset_trees<+1> trees(const group& g) { return {g, 1}; }
};

}  // namespace hccl::inline v0
