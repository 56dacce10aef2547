// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words of a schedule: what one rank does in one round.

#include <cstdint>

namespace hccl::inline v0 {

/// What a step does with its blocks.
enum class action : std::uint8_t {
  send,          ///< sends from[b] to the peer
  receive,       ///< to[b] = arriving
  reduce,        ///< to[b] = op(from[b], arriving)
  reduce_front,  ///< to[b] = op(arriving, from[b])
};

/// Where blocks lie on this rank.
enum class place : std::uint8_t { input, output, scratch };

/// `count` blocks in runs of `width`, which begin at `first, first + stride, ...`, modulo the number of blocks of
/// the schedule.
struct block_set {
  int first = 0;
  int count = 1;
  int stride = 1;
  int width = 1;

  /// The k-th block of the set among `blocks` blocks.
  constexpr int at(int k, int blocks) const {
    const auto index = (first + static_cast<std::int64_t>(k / width) * stride + k % width) % blocks;
    return static_cast<int>(index < 0 ? index + blocks : index);
  }

  /// Tells whether the blocks lie one behind the other.
  constexpr bool is_run() const { return stride == width || count <= width; }

  friend constexpr bool operator==(const block_set&, const block_set&) = default;
};

/// Tells whether two sets share a block. O(1) for sets of one run, else O(a.count * b.count).
constexpr bool intersect(const block_set& a, const block_set& b, int blocks) {
  if (a.count == 0 || b.count == 0) return false;
  if (a.is_run() && b.is_run()) {
    const int offset = block_set{b.first - a.first}.at(0, blocks);  // of b behind a
    return offset < a.count || offset + b.count > blocks;
  }
  for (int i = 0; i < a.count; ++i) {
    for (int k = 0; k < b.count; ++k) {
      if (a.at(i, blocks) == b.at(k, blocks)) return true;
    }
  }
  return false;
}

/// One thing that a rank does in a round.
///
/// The steps of a round run at the same time, with one exception: a step that brings blocks (receive, reduce,
/// reduce_front) waits for those emitted before it that share a block with it, so that arrivals for one block are
/// combined in the order of emission. The next round begins when all steps are done. In a round, the k-th
/// arrival from a peer is that peer's k-th send to this rank; both name equally many elements, not necessarily
/// equal blocks. A message of a rank to itself is a local copy or reduction; its send is read when its arrival is
/// due.
struct step {
  action what = action::send;
  int peer = 0;
  block_set blocks{};
  place from = place::input;  ///< of send, reduce, reduce_front
  place to = place::output;   ///< of receive, reduce, reduce_front

  friend constexpr bool operator==(const step&, const step&) = default;
};

/// A step that sends blocks to `peer`.
constexpr step send_step(int peer, block_set blocks, place from) {
  return {action::send, peer, blocks, from, from};
}

/// A step that stores blocks that arrive from `peer`.
constexpr step receive_step(int peer, block_set blocks, place to) {
  return {action::receive, peer, blocks, to, to};
}

/// A step that combines blocks at hand with those that arrive from `peer`: to[b] = op(from[b], arriving).
constexpr step reduce_step(int peer, block_set blocks, place from, place to) {
  return {action::reduce, peer, blocks, from, to};
}

/// As `reduce_step`, with the operands the other way round: to[b] = op(arriving, from[b]).
constexpr step reduce_front_step(int peer, block_set blocks, place from, place to) {
  return {action::reduce_front, peer, blocks, from, to};
}

}  // namespace hccl::inline v0
