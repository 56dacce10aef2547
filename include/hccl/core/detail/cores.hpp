// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many cores there are.

#include <thread>

namespace hccl::inline v0::detail {

/// The number of cores that this process may run on.
inline int cores() {
  static const int number = static_cast<int>(std::thread::hardware_concurrency());
  return number;
}

}  // namespace hccl::inline v0::detail
