// SPDX-License-Identifier: Apache-2.0
#pragma once

// AscendAllocator: memory of an NPU.

#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/detail/ascend_copies.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <cstddef>

namespace hccl::inline v0 {

/// Allocates memory of the device that the thread has set; a thread that has set none gets `device_failed`.
template <AscendRuntime Runtime>
struct AscendAllocator {
  static constexpr memory_kind kind = memory_kind::device;
  static constexpr std::size_t alignment = 64;
  using copies = detail::ascend_copies<Runtime>;

  void* allocate(std::size_t bytes) { return Runtime::allocate(bytes); }
  void deallocate(void* memory, std::size_t) noexcept { Runtime::deallocate(memory); }
  void copy(void* to, const void* from, std::size_t bytes, copy_direction direction) {
    Runtime::copy(to, from, bytes, direction);
  }
};

}  // namespace hccl::inline v0
