// SPDX-License-Identifier: Apache-2.0
#pragma once

// HostAllocator: memory of this process.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <cstddef>
#include <new>

namespace hccl::inline v0 {

/// Allocates memory of this process by `operator new`, aligned to pages. From any thread.
struct HostAllocator {
  static constexpr memory_kind kind = memory_kind::host;
  static constexpr std::size_t alignment = 4096;

  void* allocate(std::size_t bytes) { return ::operator new(bytes, std::align_val_t{alignment}); }
  void deallocate(void* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t{alignment});
  }
  void copy(void* to, const void* from, std::size_t bytes, copy_direction) {
    detail::copy_bytes(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }
};

static_assert(DeviceAllocator<HostAllocator>);

}  // namespace hccl::inline v0
