// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often a thread asks for memory. A program that uses it is built with allocations.test.cpp.

#include <cstddef>

namespace hccl_test {

/// The number of calls of operator new on this thread so far.
std::size_t allocations_of_this_thread() noexcept;

}  // namespace hccl_test
