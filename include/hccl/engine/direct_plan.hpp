// SPDX-License-Identifier: Apache-2.0
#pragma once

// One call of `Direct`: who holds which elements, and the two things that a rank does with them.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/engine/stream_copy.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/schedule/collective.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace hccl::inline v0::detail {

/// What all ranks know of a call. The buffer of all shares has a part for each rank: its share, or what falls to it of
/// one that is for all.
struct direct_plan {
  const call* what = nullptr;
  division shares{};
  combiner combine{};
  portion input{}, output{};
  int root = 0, self = 0, ranks = 1;

  std::size_t bytes(extent e) const { return e.count * what->element_bytes; }

  extent part(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return shares.shares() > 1 ? shares.share(index)
                               : partition(shares.size(), static_cast<std::size_t>(ranks), index);
  }

  /// What a rank holds.
  extent held(portion what_part, int rank) const {
    if (what_part == portion::share) return part(rank);
    return what_part == portion::all || rank == root ? extent{0, shares.size()} : extent{};
  }

  /// How far from its beginning a rank has an element of its input, or output.
  std::size_t offset(portion what_part, int rank, std::size_t element) const {
    return (element - held(what_part, rank).offset) * what->element_bytes;
  }

  /// Whether so much is written that it does not stay in a cache.
  bool streams() const { return bytes({0, shares.size()}) >= streamed_bytes; }

 private:
  static constexpr std::size_t streamed_bytes = std::size_t{16} << 20;
};

/// The `enter` of memory that no other rank waits for.
inline constexpr auto freely = [] { return 0; };

/// Copies and combines vectors piece by piece. `enter()`, which may throw, is called for each piece; what it returns lives
/// until the piece is done.
class piecewise {
 public:
  /// Combines vectors of `count` elements, `from(rank)` of each rank, in rank order, into each of `to`. A piece stays in
  /// the cache until it is written. `to` is not empty; one of it may be one of the vectors.
  void combine(const direct_plan& plan, auto&& from, std::span<std::byte* const> to, std::size_t count,
               bool streams, auto&& enter) {
    const std::size_t width = plan.what->element_bytes, most = std::max<std::size_t>(piece_bytes / width, 1);
    piece_.reserve(std::max(piece_bytes, width));
    for (std::size_t done = 0, size = 0; done < count; done += size) {
      [[maybe_unused]] const auto visit = enter();
      size = std::min(most, count - done);
      const std::byte* so_far = from(0) + done * width;
      for (int rank = 1; rank < plan.ranks; ++rank) {
        const bool is_last = rank + 1 == plan.ranks && !streams;
        std::byte* const next = is_last ? to[0] + done * width : piece_.data();
        plan.combine(action::reduce, next, so_far, from(rank) + done * width, size);
        so_far = next;
      }
      for (std::byte* const target : to.subspan(streams ? 0 : 1))
        write(target + done * width, so_far, size * width, streams);
    }
  }

  /// Copies memory; from and to are the same, or apart.
  static void copy(const std::byte* from, std::byte* to, std::size_t bytes, bool streams, auto&& enter) {
    if (from == to) return;
    for (std::size_t done = 0; done < bytes; done += copied_bytes) {
      [[maybe_unused]] const auto visit = enter();
      write(to + done, from + done, std::min(copied_bytes, bytes - done), streams);
    }
  }

 private:
  static void write(std::byte* to, const std::byte* from, std::size_t size, bool streams) {
    streams ? stream_copy(to, from, size) : copy_bytes(to, from, size);
  }

  static constexpr std::size_t piece_bytes = std::size_t{16} << 10;
  static constexpr std::size_t copied_bytes = std::size_t{1} << 20;

  scratch_memory<> piece_;
};

}  // namespace hccl::inline v0::detail
