// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts calls of the global operator new, which allocations.cpp replaces in the executable it is part of.

#include <cstddef>

namespace hccl_test {

/// The number of allocations that the calling thread has made so far.
std::size_t allocations_of_this_thread();

}  // namespace hccl_test
