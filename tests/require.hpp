// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks on ranks, where those of Catch2 do not count: on threads and in other processes.

#include <stdexcept>
#include <string>
#include <string_view>

namespace hccl_test {

/// Throws unless `condition` holds: what a rank finds wrong ends the test.
inline void require(bool condition, std::string_view what) {
  if (!condition) throw std::logic_error(std::string(what));
}

}  // namespace hccl_test
