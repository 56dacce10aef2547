// SPDX-License-Identifier: Apache-2.0
#pragma once

// OneShotMesh: everyone sends everything to all who need it, and they reduce it themselves.

#include <hccl/algorithm/mesh.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

namespace detail {

/// Emits arrivals of `blocks` from all ranks, this one included, combined from rank 0 upward: ((x0 x1) x2)
/// ..., the same expression wherever it is computed. The result is in scratch. The input is only read.
constexpr void reduce_upward(const group& g, int self, block_set blocks, auto&& emit) {
  emit(send_step(self, blocks, place::input));
  emit(receive_step(0, blocks, place::scratch));
  for (int peer = 1; peer < g.size(); ++peer) emit(reduce_step(peer, blocks, place::scratch, place::scratch));
}

}  // namespace detail

/// The full mesh in one shot: one latency, p - 1 whole vectors sent per rank. For vectors of a few kilobytes.
///
/// Allreduce and reduce combine from rank 0 upward on every rank, so all ranks compute the same bits and rank
/// order is kept.
struct OneShotMesh {
  static constexpr std::string_view name = "one_shot_mesh";

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int blocks(const AllReduce&, const group&) { return 1; }
  static constexpr int rounds(const AllReduce&, const group&) { return 2; }

  static constexpr void steps(const AllReduce&, const group& g, int self, int round, auto&& emit) {
    if (round == 0) {
      for (int distance = 1; distance < g.size(); ++distance)
        emit(send_step(g.wrap(self + distance), {}, place::input));
      detail::reduce_upward(g, self, {}, emit);
    } else {  // the output may be the input, which is being sent until here
      emit(send_step(self, {}, place::scratch));
      emit(receive_step(self, {}, place::output));
    }
  }

  static constexpr int blocks(const Reduce&, const group&) { return 1; }
  static constexpr int rounds(const Reduce&, const group&) { return 1; }

  static constexpr void steps(const Reduce& c, const group& g, int self, int, auto&& emit) {
    detail::reduce_at_root(c, g, self, emit);
  }

  static constexpr int rounds(const ReduceScatter&, const group&) { return 1; }

  static constexpr void steps(const ReduceScatter& c, const group& g, int self, int round, auto&& emit) {
    Mesh::steps(c, g, self, round, emit);
  }
};

}  // namespace hccl::inline v0
