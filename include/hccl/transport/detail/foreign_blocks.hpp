// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory of other processes that is mapped here. Linux.

#include <hccl/memory/detail/memory_file.hpp>
#include <hccl/memory/detail/shared_blocks.hpp>
#include <hccl/transport/detail/shm_world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hccl::inline v0::detail {

/// Blocks of the other ranks, mapped when first asked for. When a rank comes with a new one, those go that it has freed;
/// when there are many, that goes which has not been asked for the longest time, but the input and the output of every
/// rank stay.
class foreign_blocks {
 public:
  /// Throws `out_of_memory`, `peer_lost` if the rank has gone.
  std::byte* reach(const shm_world& world, int rank, const shared_place& there) {
    if (there.file == 0) return nullptr;
    const auto is_it = [&](const block& b) { return b.rank == rank && b.place.file == there.file; };
    auto found = std::ranges::find_if(blocks_, is_it);
    if (found == blocks_.end()) {
      std::erase_if(blocks_, [&](const block& b) { return b.rank == rank && !world.is_open(rank, b.place); });
      if (blocks_.size() >= std::max<std::size_t>(least_room, 4 * static_cast<std::size_t>(world.size())))
        blocks_.erase(std::ranges::min_element(blocks_, {}, &block::last_use));
      memory_file file = world.open(rank, there);
      blocks_.push_back({rank, there, file.map(0, file.size(), population::now), 0});
      found = blocks_.end() - 1;
    }
    found->last_use = ++uses_;
    return found->memory.data() + there.offset;
  }

 private:
  static constexpr std::size_t least_room = 64;

  struct block {
    int rank;
    shared_place place;  // that was asked for first
    mapping memory;
    std::uint64_t last_use;
  };

  std::vector<block> blocks_;
  std::uint64_t uses_ = 0;
};

}  // namespace hccl::inline v0::detail
