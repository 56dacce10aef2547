// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory of other processes that is mapped here. Linux.

#include <hccl/memory/detail/memory_file.hpp>
#include <hccl/memory/detail/shared_blocks.hpp>
#include <hccl/transport/detail/shm_world.hpp>

#include <cstddef>
#include <map>
#include <utility>

namespace hccl::inline v0::detail {

/// Blocks of the other ranks, mapped when first asked for. One that its rank has freed holds no memory any more; it goes
/// when the rank uses its descriptor for another.
class foreign_blocks {
 public:
  /// Throws `out_of_memory`, `peer_lost` if the rank has gone.
  std::byte* reach(const shm_world& world, int rank, const shared_place& there) {
    if (there.file == 0) return nullptr;
    block& b = blocks_[{rank, there.fd}];
    if (b.file != there.file) {
      memory_file file = world.open(rank, there);
      b.memory = file.map(0, file.size(), population::now);
      b.file = there.file;
    }
    return b.memory.data() + there.offset;
  }

 private:
  struct block {
    ino_t file = 0;  // none
    mapping memory;
  };

  std::map<std::pair<int, int>, block> blocks_;  // by rank and descriptor
};

}  // namespace hccl::inline v0::detail
