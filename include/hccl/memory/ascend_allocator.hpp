// SPDX-License-Identifier: Apache-2.0
#pragma once

// AscendAllocator: memory of an NPU.

#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/detail/ascend_copies.hpp>

namespace hccl::inline v0 {

/// Allocates memory of the device that the thread has set; a thread that has set none gets `device_failed`.
template <AscendRuntime Runtime>
struct AscendAllocator : detail::ascend_memory<Runtime> {
  using copies = detail::ascend_copies<Runtime>;
};

}  // namespace hccl::inline v0
