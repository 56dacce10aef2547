// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work of the host, or of a device, on elements that only the device reaches.

#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <cstddef>

namespace hccl::inline v0::detail {

/// The lane of a piece.
inline int lane_of(std::size_t piece) { return static_cast<int>(piece % copy_engine::lanes); }

/// Begins transfers by `begin()`, and waits for all that `pieces` pieces take; if anything fails, before the memory may go.
template <class Begin>
void complete(copy_engine& copies, std::size_t pieces, Begin&& begin) {
  try {
    begin();
    for (std::size_t piece = 0; piece < std::min<std::size_t>(pieces, copy_engine::lanes); ++piece)
      copies.finish(lane_of(piece));
  } catch (...) {
    copies.settle();
    throw;
  }
}

/// Does work on the host in pieces, two of which are under way: while `work(piece)` runs, the next piece is fetched and
/// the one before stored. `fetch(piece)` and `store(piece)` begin transfers in the lane of the piece.
template <class Fetch, class Work, class Store>
void pipeline(copy_engine& copies, std::size_t pieces, Fetch&& fetch, Work&& work, Store&& store) {
  complete(copies, pieces, [&] {
    if (pieces > 0) fetch(std::size_t{0});
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      copies.finish(lane_of(piece));
      if (piece + 1 < pieces) fetch(piece + 1);
      work(piece);
      store(piece);
    }
  });
}

/// Elements that are worked on in pieces of about 1 MiB.
struct pieces_of {
  std::size_t count;
  std::size_t most;  // elements of a piece

  pieces_of(std::size_t elements, std::size_t element_bytes)
      : count(elements),
        most(std::max<std::size_t>(1, std::min(elements, (std::size_t{1} << 20) / element_bytes))) {}

  std::size_t size() const { return (count + most - 1) / most; }
  extent operator[](std::size_t piece) const { return {piece * most, std::min(most, count - piece * most)}; }
};

/// Memory for pieces: of each lane a room, or several.
class lane_rooms {
 public:
  lane_rooms(std::byte* memory, std::size_t bytes, std::size_t rooms = 1)
      : memory_(memory), bytes_(aligned(bytes)), rooms_(rooms) {}

  /// The bytes that they take.
  static std::size_t size(std::size_t bytes, std::size_t rooms = 1) {
    return copy_engine::lanes * rooms * aligned(bytes);
  }

  std::byte* of(std::size_t piece, std::size_t room = 0) const {
    return memory_ + (static_cast<std::size_t>(lane_of(piece)) * rooms_ + room) * bytes_;
  }

 private:
  std::byte* memory_;
  std::size_t bytes_, rooms_;
};

/// Combines elements of a device with some that may be of another one: on the device if it knows the reduction, else on
/// the host.
inline void combine_on(copy_engine& copies, const combiner& combine, action what, std::byte* to,
                       const std::byte* from, const std::byte* arriving, std::size_t count,
                       std::size_t element_bytes) {
  using enum copy_direction;
  const pieces_of pieces(count, element_bytes);
  const std::size_t most = pieces.most * element_bytes;
  const lane_rooms come(copies.device_room(lane_rooms::size(most)), most);
  const auto begin = [&](std::size_t piece) { return pieces[piece].offset * element_bytes; };
  const auto bytes = [&](std::size_t piece) { return pieces[piece].count * element_bytes; };
  if (copies.reduces(combine.on_device())) {
    return complete(copies, pieces.size(), [&] {
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const int lane = lane_of(piece);
        copies.begin_copy(lane, come.of(piece), arriving + begin(piece), bytes(piece), device_to_device);
        if (to != from)
          copies.begin_copy(lane, to + begin(piece), from + begin(piece), bytes(piece), device_to_device);
        copies.begin_reduce(lane, to + begin(piece), come.of(piece), bytes(piece), combine.on_device());
      }
    });
  }
  const lane_rooms host(copies.host_room(lane_rooms::size(most, 2)), most, 2);
  const auto fetch = [&](std::size_t piece) {
    const int lane = lane_of(piece);
    copies.begin_copy(lane, come.of(piece), arriving + begin(piece), bytes(piece), device_to_device);
    copies.begin_copy(lane, host.of(piece, 1), come.of(piece), bytes(piece), device_to_host);
    copies.begin_copy(lane, host.of(piece), from + begin(piece), bytes(piece), device_to_host);
  };
  const auto work = [&](std::size_t piece) {
    combine(what, host.of(piece), host.of(piece), host.of(piece, 1), pieces[piece].count);
  };
  const auto store = [&](std::size_t piece) {
    copies.begin_copy(lane_of(piece), to + begin(piece), host.of(piece), bytes(piece), host_to_device);
  };
  pipeline(copies, pieces.size(), fetch, work, store);
}

/// Makes each element of `to` from one of `from`, both on a device, by `make(to, from, first, count)` on the host.
inline void transform_on(
    copy_engine& copies, std::byte* to, std::size_t to_bytes, const std::byte* from, std::size_t from_bytes,
    std::size_t count,
    function_ref<void(std::byte* to, const std::byte* from, std::size_t first, std::size_t count)> make) {
  using enum copy_direction;
  const pieces_of pieces(count, std::max(to_bytes, from_bytes));
  const std::size_t most = pieces.most * std::max(to_bytes, from_bytes);
  const lane_rooms host(copies.host_room(lane_rooms::size(most, 2)), most, 2);
  const auto fetch = [&](std::size_t piece) {
    const extent e = pieces[piece];
    copies.begin_copy(lane_of(piece), host.of(piece, 1), from + e.offset * from_bytes, e.count * from_bytes,
                      device_to_host);
  };
  const auto work = [&](std::size_t piece) {
    make(host.of(piece), host.of(piece, 1), pieces[piece].offset, pieces[piece].count);
  };
  const auto store = [&](std::size_t piece) {
    const extent e = pieces[piece];
    copies.begin_copy(lane_of(piece), to + e.offset * to_bytes, host.of(piece), e.count * to_bytes,
                      host_to_device);
  };
  pipeline(copies, pieces.size(), fetch, work, store);
}

}  // namespace hccl::inline v0::detail
