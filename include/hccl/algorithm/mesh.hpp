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

/// Emits the reduce of one block in one round: the root takes the contributions of all others at once.
constexpr void reduce_at_root(const Reduce& c, const group& g, int self, auto&& emit) {
  if (self == c.root) {
    reduce_around(g, self, {}, place::output, emit);
  } else {
    emit(send_step(c.root, {}, place::input));
  }
}

}  // namespace detail

/// The full mesh, in two shots: reduce-scatter, in which each rank gets its block from all ranks at once,
/// then allgather.
///
/// One round for reduce-scatter, allgather, scatter, gather and all-to-all, two for the others; (p-1)/p of the
/// vector sent per rank and round, in p - 1 messages. For fully connected devices and middle sizes. Rank order is
/// kept.
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

  static constexpr int rounds(const Scatter&, const group&) { return 1; }

  static constexpr void steps(const Scatter& c, const group& g, int self, int, auto&& emit) {
    for (int distance = 0; self == c.root && distance < g.size(); ++distance) {
      const int peer = g.wrap(self + distance);
      emit(send_step(peer, {peer}, place::input));
    }
    emit(receive_step(c.root, {self}, place::output));
  }

  static constexpr int rounds(const AllToAllV&, const group&) { return 1; }

  static constexpr void steps(const AllToAllV&, const group& g, int self, int, auto&& emit) {
    for (int distance = 0; distance < g.size(); ++distance) {
      const int to = g.wrap(self + distance), from = g.wrap(self - distance);
      emit(send_step(to, {to}, place::input));
      emit(receive_step(from, {from}, place::output));
    }
  }
};

}  // namespace hccl::inline v0
