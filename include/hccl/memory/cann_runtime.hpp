// SPDX-License-Identifier: Apache-2.0
#pragma once

// CannRuntime: the AscendCL of CANN. Needs its `acl/acl.h`; see the target hccl::ascend.

#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/detail/acl_runtime.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// AscendCL on NPUs. The program has called `aclInit`.
struct CannRuntime : detail::acl_runtime {
  static constexpr std::string_view name = "cann";
};

static_assert(AscendRuntime<CannRuntime>);

}  // namespace hccl::inline v0
