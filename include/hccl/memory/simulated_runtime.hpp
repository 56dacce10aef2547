// SPDX-License-Identifier: Apache-2.0
#pragma once

// SimulatedRuntime: devices that are simulated on the host, by hccl::acl_sim.

#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/detail/acl_runtime.hpp>

#include <acl/acl_sim.h>

#include <string_view>

namespace hccl::inline v0 {

/// The same calls as those of `CannRuntime`, answered by simulated devices: memory that the host may not touch, streams
/// that work in order, and the error codes of CANN. The program has called `aclInit`.
struct SimulatedRuntime : detail::acl_runtime {
  static constexpr std::string_view name = "simulated";
};

static_assert(AscendRuntime<SimulatedRuntime>);

}  // namespace hccl::inline v0
