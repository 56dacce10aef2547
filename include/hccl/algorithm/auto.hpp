// SPDX-License-Identifier: Apache-2.0
#pragma once

// Auto: the library chooses the algorithm.

#include <string_view>

namespace hccl::inline v0 {

/// Chooses, for each call, the cheapest algorithm for the number of ranks, the bytes and the transport's
/// link, among those that offer the collective and, for an operation that does not commute, keep rank order.
/// The choice depends on nothing else, so all ranks make the same.
struct Auto {
  static constexpr std::string_view name = "auto";
};

}  // namespace hccl::inline v0
