// SPDX-License-Identifier: Apache-2.0
#pragma once

// NHR: the nonuniform hierarchical ring.

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/detail/offset_trees.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// The nonuniform hierarchical ring: p spanning trees at once, one for each block, as deep as ceil(log2 p).
///
/// Reduce-scatter: in round k a rank sends floor((p - 1 + 2^k) / 2^(k+1)) blocks to the one 2^k above it. Rounds
/// and bytes are those of `NonuniformBruck`, in the other direction round the ring; so are scatter, and what is made
/// of these. The reduction must commute.
///
/// Source: HCCL's description of "NHR". It renumbers blocks so that messages are contiguous; here blocks keep their
/// places, since a step names strided blocks.
struct NHR {
  static constexpr std::string_view name = "nhr";

  static constexpr int rounds(const ReduceScatter&, const group& g) { return trees(g).rounds(); }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    trees(g).steps(self, round, emit);
  }

  static constexpr int rounds(const Scatter& c, const group& g) { return BinomialTree::rounds(c, g); }

  static constexpr void steps(const Scatter& c, const group& g, int self, int round, auto&& emit) {
    BinomialTree::steps(c, g, self, round, emit);
  }

 private:
  static constexpr detail::offset_trees<-1> trees(const group& g) { return {g, 1}; }
};

}  // namespace hccl::inline v0
