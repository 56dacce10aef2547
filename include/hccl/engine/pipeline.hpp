// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work of the host, or of a device, on elements that only the device reaches.

#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <cstddef>

namespace hccl::inline v0::detail {

/// Does work in pieces, two of which are under way: while `work(piece)` runs, the next piece is fetched and the one
/// before stored. `fetch(piece, lane)` and `store(piece, lane)` begin transfers.
template <class Fetch, class Work, class Store>
void pipeline(copy_engine& copies, std::size_t pieces, Fetch&& fetch, Work&& work, Store&& store) {
  struct settled {
    copy_engine& copies;
    ~settled() { copies.settle(); }
  } const at_the_end{copies};
  const auto lane = [](std::size_t piece) { return static_cast<int>(piece % copy_engine::lanes); };
  if (pieces > 0) fetch(std::size_t{0}, 0);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    copies.finish(lane(piece));
    if (piece + 1 < pieces) fetch(piece + 1, lane(piece + 1));
    work(piece, lane(piece));
    store(piece, lane(piece));
  }
  for (int each = 0; pieces > 0 && each < copy_engine::lanes; ++each) copies.finish(each);
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

/// Combines elements of a device with some that may be of another one: on the device if it knows the reduction, else on
/// the host.
inline void combine_on(copy_engine& copies, const combiner& combine, action what, std::byte* to,
                       const std::byte* from, const std::byte* arriving, std::size_t count,
                       std::size_t element_bytes) {
  using enum copy_direction;
  const pieces_of pieces(count, element_bytes);
  const std::size_t most = pieces.most * element_bytes;
  std::byte* const beside = copies.device_room(copy_engine::lanes * most);
  const auto come = [&](int lane) { return beside + static_cast<std::size_t>(lane) * most; };
  const auto begin = [&](std::size_t piece) { return pieces[piece].offset * element_bytes; };
  const auto bytes = [&](std::size_t piece) { return pieces[piece].count * element_bytes; };
  const auto nothing = [](std::size_t, int) {};
  if (copies.reduces(combine.on_device())) {
    const auto reduce = [&](std::size_t piece, int lane) {
      copies.begin_copy(lane, come(lane), arriving + begin(piece), bytes(piece), device_to_device);
      if (to != from)
        copies.begin_copy(lane, to + begin(piece), from + begin(piece), bytes(piece), device_to_device);
      copies.begin_reduce(lane, to + begin(piece), come(lane), bytes(piece), combine.on_device());
    };
    return pipeline(copies, pieces.size(), reduce, nothing, nothing);
  }
  std::byte* const host = copies.host_room(2 * copy_engine::lanes * most);
  const auto stored = [&](int lane) { return host + static_cast<std::size_t>(lane) * 2 * most; };
  const auto fetch = [&](std::size_t piece, int lane) {
    copies.begin_copy(lane, come(lane), arriving + begin(piece), bytes(piece), device_to_device);
    copies.begin_copy(lane, stored(lane) + most, come(lane), bytes(piece), device_to_host);
    copies.begin_copy(lane, stored(lane), from + begin(piece), bytes(piece), device_to_host);
  };
  const auto work = [&](std::size_t piece, int lane) {
    combine(what, stored(lane), stored(lane), stored(lane) + most, pieces[piece].count);
  };
  const auto store = [&](std::size_t piece, int lane) {
    copies.begin_copy(lane, to + begin(piece), stored(lane), bytes(piece), host_to_device);
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
  std::byte* const host = copies.host_room(2 * copy_engine::lanes * most);
  const auto made = [&](int lane) { return host + static_cast<std::size_t>(lane) * 2 * most; };
  const auto fetch = [&](std::size_t piece, int lane) {
    const extent e = pieces[piece];
    copies.begin_copy(lane, made(lane) + most, from + e.offset * from_bytes, e.count * from_bytes,
                      device_to_host);
  };
  const auto work = [&](std::size_t piece, int lane) {
    make(made(lane), made(lane) + most, pieces[piece].offset, pieces[piece].count);
  };
  const auto store = [&](std::size_t piece, int lane) {
    const extent e = pieces[piece];
    copies.begin_copy(lane, to + e.offset * to_bytes, made(lane), e.count * to_bytes, host_to_device);
  };
  pipeline(copies, pieces.size(), fetch, work, store);
}

}  // namespace hccl::inline v0::detail
