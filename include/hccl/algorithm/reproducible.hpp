// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reproducible: the same bits for an element whatever surrounds it.

#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// Combines every element from rank 0 upward, ((x0 x1) x2) ..., wherever it is combined.
///
/// So an element has the same bits whatever the count, its position, the transport, the collective
/// (allreduce, reduce or reduce_scatter) and what else is fused into the buffer. Rounds and bytes are those
/// of `Mesh`, with one more pass over the block that a rank reduces.
struct Reproducible {
  static constexpr std::string_view name = "reproducible";

  static constexpr bool needs_scratch =
      true;  // rank 0's contribution comes first, before this rank's is read

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int rounds(const ReduceScatter&, const group&) { return 2; }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    if (round == 0) return scatter(g, self, emit);
    emit(send_step(self, {self}, place::scratch));
    emit(receive_step(self, {self}, place::output));
  }

  static constexpr int rounds(const Reduce&, const group&) { return 2; }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    if (round == 0) return scatter(g, self, emit);
    emit(send_step(c.root, {self}, place::scratch));
    if (self != c.root) return;
    for (int peer = 0; peer < g.size(); ++peer) emit(receive_step(peer, {peer}, place::output));
  }

  static constexpr int rounds(const AllReduce&, const group&) { return 2; }

  static constexpr void steps(const AllReduce&, const group& g, int self, int round, auto&& emit) {
    if (round == 0) return scatter(g, self, emit);
    for (int distance = 0; distance < g.size(); ++distance) {
      const int peer = g.wrap(self + distance);
      emit(send_step(peer, {self}, place::scratch));
      emit(receive_step(peer, {peer}, place::output));
    }
  }

 private:
  static constexpr void scatter(const group& g, int self, auto&& emit) {
    for (int distance = 1; distance < g.size(); ++distance) {
      const int peer = g.wrap(self + distance);
      emit(send_step(peer, {peer}, place::input));
    }
    detail::reduce_upward(g, self, {self}, emit);
  }
};

}  // namespace hccl::inline v0
