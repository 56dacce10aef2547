// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a communicator keeps for its collectives.

#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/host_allocator.hpp>

#include <cstddef>

namespace hccl::inline v0::detail {

/// So many bytes, rounded up so that what lies behind them is aligned like the memory itself.
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + HostAllocator::alignment - 1) / HostAllocator::alignment * HostAllocator::alignment;
}

/// A block of memory that grows to the largest request and is then reused. Growing loses the contents.
template <DeviceAllocator Allocator = HostAllocator>
class scratch_memory {
 public:
  scratch_memory() = default;
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;
  ~scratch_memory() { release(); }

  /// Makes room for `bytes`. Allocates only when it has less.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    release();
    memory_ = static_cast<std::byte*>(Allocator().allocate(bytes));
    capacity_ = bytes;
  }

  std::byte* data() const { return memory_; }

  /// Gives the memory back.
  void release() noexcept {
    if (memory_ != nullptr) Allocator().deallocate(memory_, capacity_);
    memory_ = nullptr;
    capacity_ = 0;
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace hccl::inline v0::detail
