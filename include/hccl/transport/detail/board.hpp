// SPDX-License-Identifier: Apache-2.0
#pragma once

// The notes that a rank posts for all others.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/lane_traffic.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hccl::inline v0::detail {

/// The notes of one rank, numbered from 1. Zeros are an empty board.
///
/// A note is published by the store of its number, in the first of its lines, which the loads of the readers pair with.
/// There is room for two: who posts a note has read all notes of the number before, whose authors had then read all of
/// the number before that.
class board {
 public:
  static constexpr std::size_t capacity = (std::size_t{64} << 10) + 240;

  void post(std::uint64_t number, pieces note) {
    slot& s = slots_[number % slots_.size()];
    std::byte* to = s.bytes.data();
    for (const auto piece : note) {
      copy_bytes(to, piece.data(), piece.size());
      to += piece.size();
    }
    s.number.store(number);
  }

  /// Fetches what will be read of a note, so that it is under way while this rank publishes its own.
  void prefetch(std::uint64_t number) const { __builtin_prefetch(&slots_[number % slots_.size()]); }

  bool has(std::uint64_t number) const { return slots_[number % slots_.size()].number.load() == number; }

  std::span<const std::byte> note(std::uint64_t number) const { return slots_[number % slots_.size()].bytes; }

 private:
  struct alignas(cache_line) slot {
    std::atomic<std::uint64_t> number = 0;
    std::array<std::byte, capacity> bytes;
  };

  std::array<slot, 2> slots_;
};

}  // namespace hccl::inline v0::detail
