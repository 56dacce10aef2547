// SPDX-License-Identifier: Apache-2.0
#pragma once

// SharedAllocator and shared_vector: buffers that the other processes of the host reach. Linux.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/memory/detail/shared_blocks.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace hccl::inline v0 {

/// Allocates memory that the ranks of a `ShmTransport` can work in, so that a collective over it copies nothing on the
/// way (see `Direct`).
///
/// A standard allocator, for buffers that live long: each allocation takes a file descriptor, whole pages, and a few
/// system calls. All its memory is there from the start (`out_of_memory` if it is not), and nothing is left of it after
/// the end of the process. A process that is forked shares it with its parent until that frees it: memory made before
/// `run_processes` is one and the same for all ranks, so make the buffers of a collective in the ranks. From any thread.
template <class T>
class SharedAllocator {
 public:
  using value_type = T;
  static_assert(alignof(T) <= 4096, "hccl: SharedAllocator aligns to pages of 4096 bytes");

  SharedAllocator() = default;
  template <class U>
  SharedAllocator(const SharedAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return reinterpret_cast<T*>(detail::shared_blocks::of_process().allocate(count * sizeof(T)));
  }

  void deallocate(T* memory, std::size_t) noexcept {
    detail::shared_blocks::of_process().release(reinterpret_cast<std::byte*>(memory));
  }

  friend bool operator==(const SharedAllocator&, const SharedAllocator&) { return true; }
};

/// The same memory, in bytes.
template <>
class SharedAllocator<void> {
 public:
  static constexpr memory_kind kind = memory_kind::host;
  static constexpr std::size_t alignment = 4096;

  void* allocate(std::size_t bytes) { return detail::shared_blocks::of_process().allocate(bytes); }
  void deallocate(void* memory, std::size_t) noexcept {
    detail::shared_blocks::of_process().release(static_cast<std::byte*>(memory));
  }
  void copy(void* to, const void* from, std::size_t bytes, copy_direction) {
    detail::copy_bytes(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }
};

static_assert(DeviceAllocator<SharedAllocator<void>>);

/// A vector whose elements other processes of the host reach.
template <class T>
using shared_vector = std::vector<T, SharedAllocator<T>>;

}  // namespace hccl::inline v0
