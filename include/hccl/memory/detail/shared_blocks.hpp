// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of this process that other processes of the host can reach. Linux.

#include <hccl/memory/detail/memory_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace hccl::inline v0::detail {

/// Where a process has memory, for another one that can open its files.
struct shared_place {
  std::byte* address = nullptr;  // in the process that owns it
  ino_t file = 0;                // 0: no bytes, nowhere
  int fd = -1;
  std::size_t offset = 0;
};

/// All blocks of this process, each in a file of its own. From any thread.
class shared_blocks {
 public:
  /// Never destroyed: static objects may hold blocks.
  static shared_blocks& of_process() {
    static auto& blocks = *new shared_blocks;
    return blocks;
  }

  /// Throws `out_of_memory`.
  std::byte* allocate(std::size_t bytes) {
    block made{memory_file::create(), {}, 0, ::getpid()};
    made.memory = made.file.make(0, std::max<std::size_t>(bytes, 1), population::now);
    made.number = made.file.number();
    std::byte* const begin = made.memory.data();
    const std::lock_guard lock(mutex_);
    blocks_.emplace(begin, std::move(made));
    return begin;
  }

  /// Gives the memory back, even if other processes have it mapped; but not if this one was forked from the one that
  /// allocated it.
  void release(std::byte* begin) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(begin);
    block& gone = found->second;
    if (gone.owner == ::getpid()) gone.file.discard(0, gone.memory.size());
    blocks_.erase(found);
  }

  /// Unmaps the memory: it lasts until all that have it mapped have done so.
  void forget(std::byte* begin) noexcept {
    const std::lock_guard lock(mutex_);
    blocks_.erase(begin);
  }

  /// Finds memory that lies in one block.
  std::optional<shared_place> find(std::span<const std::byte> memory) {
    if (memory.empty()) return shared_place{};
    const std::lock_guard lock(mutex_);
    auto next = blocks_.upper_bound(memory.data());
    if (next == blocks_.begin()) return std::nullopt;
    const auto& [begin, found] = *std::prev(next);
    const auto offset = static_cast<std::size_t>(memory.data() - begin);
    if (offset + memory.size() > found.memory.size()) return std::nullopt;
    return shared_place{const_cast<std::byte*>(memory.data()), found.number, found.file.fd(), offset};
  }

 private:
  struct block {
    memory_file file;
    mapping memory;
    ino_t number;  // of the file
    pid_t owner;
  };

  std::mutex mutex_;
  std::map<const std::byte*, block, std::less<>> blocks_;  // by their first byte
};

}  // namespace hccl::inline v0::detail
