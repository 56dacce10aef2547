// SPDX-License-Identifier: Apache-2.0
#pragma once

// barrier: no rank leaves before all have come.

#include <hccl/collective/allreduce.hpp>
#include <hccl/collective/communicator.hpp>

#include <cstddef>
#include <span>

namespace hccl::inline v0 {

/// Waits until every rank has called it: an allreduce of no elements, whose messages depend on every rank.
/// Throws as `allreduce`.
template <class Algo = Auto, Transport Net>
void barrier(communicator<Net>& comm) {
  allreduce<unsigned char, Sum, Algo>(comm, std::span<unsigned char>());
}

}  // namespace hccl::inline v0
