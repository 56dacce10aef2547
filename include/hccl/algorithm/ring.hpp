// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ring: every rank talks to its two neighbours only.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// The ring. Block b starts at rank b + 1 and travels once round, collecting contributions, until it is
/// complete at rank b.
///
/// Reduce-scatter takes p - 1 rounds and sends (p-1)/p of the vector per rank; allgather is its mirror image,
/// allreduce both. Scatter passes blocks along the chain that begins at the root, the farthest first, in p - 1
/// rounds of n/p; gather is its mirror image. Reduce and broadcast are made of these. Optimal in bytes, linear in
/// latency: for large vectors. Contributions are combined in the order of travel, which wraps around, so the
/// reduction must commute.
///
/// Source: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
/// JPDC 2009.
struct Ring {
  static constexpr std::string_view name = "ring";

  static constexpr int rounds(const ReduceScatter&, const group& g) { return g.size() - 1; }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    const int leaving = g.wrap(self - 1 - round);
    const int coming = g.wrap(leaving - 1);
    emit(send_step(g.wrap(self + 1), {leaving}, round == 0 ? place::input : place::scratch));
    emit(reduce_front_step(g.wrap(self - 1), {coming}, place::input,
                           coming == self ? place::output : place::scratch));
  }

  static constexpr int rounds(const Scatter&, const group& g) { return g.size() - 1; }

  static constexpr void steps(const Scatter& c, const group& g, int self, int round, auto&& emit) {
    const int position = g.wrap(self - c.root);  // along the chain that begins at the root
    const int leaving =
        g.size() - 1 - round + position;  // the position whose block goes on, the farthest first
    const auto block = [&](int of_position) { return block_set{g.wrap(c.root + of_position)}; };
    if (position < leaving && leaving < g.size()) {
      emit(send_step(g.wrap(self + 1), block(leaving), position == 0 ? place::input : place::scratch));
    }
    if (0 < position && position <= leaving - 1 && leaving - 1 < g.size()) {
      emit(receive_step(g.wrap(self - 1), block(leaving - 1),
                        leaving - 1 == position ? place::output : place::scratch));
    }
    if (position == 0 && round == 0) {
      emit(send_step(self, {self}, place::input));
      emit(receive_step(self, {self}, place::output));
    }
  }
};

}  // namespace hccl::inline v0
