// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way of buffers of a device over a transport that does not reach them: through the host, in pieces.

#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/engine/pipeline.hpp>
#include <hccl/engine/plain_copies.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hccl::inline v0::detail {

/// The shares of a buffer that a rank holds on a device, `first` to `last`, which begin at `data` with element `origin` of
/// the whole. Piece k of n has part k of n of each share, one behind the other.
struct staged_shares {
  std::byte* data = nullptr;
  division parts{};
  std::size_t first = 0, last = 0, origin = 0;
  std::size_t element_bytes = 1;

  /// The bytes of a piece. Piece 0 is the largest.
  std::size_t bytes(std::size_t pieces, std::size_t piece) const {
    std::size_t count = 0;
    for (std::size_t share = first; share < last; ++share)
      count += partition(parts.share(share).count, pieces, piece).count;
    return count * element_bytes;
  }

  /// How a piece is divided into shares, those of other ranks among them. `counts` and `offsets` are memory.
  division divide(std::size_t pieces, std::size_t piece, std::vector<std::size_t>& counts,
                  std::vector<std::size_t>& offsets) const {
    const auto part = [&](std::size_t share) {
      return partition(parts.share(share).count, pieces, piece).count;
    };
    if (parts.is_regular()) return division::equal(static_cast<int>(parts.shares()), part(0));
    counts.clear();
    offsets.clear();
    std::size_t offset = 0;
    for (std::size_t share = 0; share < parts.shares(); ++share) {
      counts.push_back(part(share));
      offsets.push_back(offset);
      offset += counts.back();
    }
    return division::of(counts, offsets);
  }

  /// Calls `f(on the device, on the host, bytes)` for what lies side by side in both, the latter from `host` on.
  template <class F>
  void for_each_run(std::size_t pieces, std::size_t piece, std::byte* host, F&& f) const {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    for (std::size_t share = first; share < last; ++share) {
      const extent all = parts.share(share), part = partition(all.count, pieces, piece);
      std::byte* const next = data + (all.offset - origin + part.offset) * element_bytes;
      if (bytes > 0 && next != begin + bytes) {
        f(begin, host, bytes);
        host += bytes;
        bytes = 0;
      }
      if (bytes == 0) begin = next;
      bytes += part.count * element_bytes;
    }
    if (bytes > 0) f(begin, host, bytes);
  }
};

/// What a communicator keeps for buffers of a device that its transport does not reach.
class staging {
 public:
  /// The copy engine of an allocator, made when it is first asked for.
  template <DeviceAllocator Allocator>
  copy_engine& copies() {
    return copies(&make_copies<Allocator>);
  }

  using factory = std::unique_ptr<copy_engine> (*)();
  copy_engine& copies(factory make) {
    if (make != made_by_ || copies_->is_elsewhere()) {
      copies_ = make();
      made_by_ = make;
    }
    copies_->enter();
    return *copies_;
  }

  /// Runs a collective on the host, piece by piece: while one runs, the next is fetched from the device and the one before
  /// stored there. `run(piece, input, output)` is given the memory on the host, the same for both if there is one share.
  void run(copy_engine& copies, const staged_shares& in, const staged_shares& out, std::size_t pieces,
           function_ref<void(std::size_t piece, std::byte* input, std::byte* output)> run) {
    using enum copy_direction;
    const bool in_place = in.parts.shares() == 1 && out.parts.shares() == 1;
    const std::size_t most = std::max(in.bytes(pieces, 0), out.bytes(pieces, 0));
    const std::size_t rooms = in_place ? 1 : 2;
    const lane_rooms host(copies.host_room(lane_rooms::size(most, rooms)), most, rooms);
    const auto output = [&](std::size_t piece) { return host.of(piece, rooms - 1); };
    const auto fetch = [&](std::size_t piece) {
      in.for_each_run(pieces, piece, host.of(piece),
                      [&](std::byte* there, std::byte* here, std::size_t size) {
                        copies.begin_copy(lane_of(piece), here, there, size, device_to_host);
                      });
    };
    const auto work = [&](std::size_t piece) { run(piece, host.of(piece), output(piece)); };
    const auto store = [&](std::size_t piece) {
      out.for_each_run(pieces, piece, output(piece),
                       [&](std::byte* there, std::byte* here, std::size_t size) {
                         copies.begin_copy(lane_of(piece), there, here, size, host_to_device);
                       });
    };
    pipeline(copies, pieces, fetch, work, store);
  }

  std::array<std::vector<std::size_t>, 4> lists;  // of sizes and offsets, of one piece

 private:
  factory made_by_ = nullptr;
  std::unique_ptr<copy_engine> copies_;
};

/// About so many bytes of a call are worked on at once.
inline constexpr std::size_t staged_bytes = std::size_t{4} << 20;

}  // namespace hccl::inline v0::detail
