// SPDX-License-Identifier: Apache-2.0
#pragma once

// Mesh: all pairs talk at once, and every rank reduces its own block from all the others.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

namespace detail {

/// Emits arrivals of `blocks` from all ranks but `self`, nearest first, combined around this rank's own
/// contribution so that rank order is kept: upward behind it, then downward in front of it.
constexpr void reduce_around(const group& g, int self, block_set blocks, place to, auto&& emit) {
  place from = place::input;
  for (int peer = self + 1; peer < g.size(); ++peer) {
    emit(reduce_step(peer, blocks, from, to));
    from = to;
  }
  for (int peer = self - 1; peer >= 0; --peer) {
    emit(reduce_front_step(peer, blocks, from, to));
    from = to;
  }
}

}  // namespace detail

/// The full mesh, in two shots: reduce-scatter, in which each rank gets its block from all ranks at once,
/// then allgather.
///
/// One round for reduce-scatter and for allgather, two for the others; (p-1)/p of the vector sent per rank
/// and round, in p - 1 messages. For fully connected devices and middle sizes. Rank order is kept.
struct Mesh {
  static constexpr std::string_view name = "mesh";

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int rounds(const ReduceScatter&, const group&) { return 1; }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int, auto&& emit) {
    for (int distance = 1; distance < g.size(); ++distance) {
      const int peer = g.wrap(self + distance);
      emit(send_step(peer, {peer}, place::input));
    }
    detail::reduce_around(g, self, {self}, place::output, emit);
  }

  static constexpr int rounds(const Reduce&, const group&) { return 2; }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    const bool is_root = self == c.root;
    if (round == 0) {
      steps(ReduceScatter{}, g, self, 0, [&](step s) {
        if (!is_root && s.from == place::output) s.from = place::scratch;
        if (!is_root && s.to == place::output) s.to = place::scratch;
        emit(s);
      });
    } else if (!is_root) {
      emit(send_step(c.root, {self}, place::scratch));
    } else {
      for (int distance = 1; distance < g.size(); ++distance) {
        const int peer = g.wrap(self + distance);
        emit(receive_step(peer, {peer}, place::output));
      }
    }
  }
};

}  // namespace hccl::inline v0
