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
/// allreduce both. Reduce passes p blocks along the chain that ends at the root, one behind the other: 2p - 2
/// rounds of n/p; broadcast is its mirror image. Optimal in bytes, linear in latency: for large vectors.
/// Contributions are combined in the order of travel, which wraps around, so the reduction must commute.
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

  static constexpr int rounds(const Reduce&, const group& g) { return 2 * g.size() - 2; }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    const int position = g.wrap(self - c.root - 1);  // along the chain that ends at the root
    const bool is_root = self == c.root;
    const int leaving = round - position;  // block b leaves position i in round i + b
    const int coming = round - position + 1;
    if (!is_root && 0 <= leaving && leaving < g.size()) {
      emit(send_step(g.wrap(self + 1), {leaving}, position == 0 ? place::input : place::scratch));
    }
    if (position > 0 && 0 <= coming && coming < g.size()) {
      emit(reduce_front_step(g.wrap(self - 1), {coming}, place::input,
                             is_root ? place::output : place::scratch));
    }
  }
};

}  // namespace hccl::inline v0
