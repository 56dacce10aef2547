// SPDX-License-Identifier: Apache-2.0
#pragma once

// barrier: no rank leaves before all have come.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

namespace hccl::inline v0 {

/// Waits until every rank has called it: an allreduce of no elements, whose messages depend on every rank.
/// Throws as `allreduce`.
template <class Algo = Auto, Transport Net>
void barrier(communicator<Net>& comm) {
  detail::span_for<unsigned char, Net> nothing;
  detail::reduce_whole<unsigned char, Algo>(comm, AllReduce{}, nothing, nothing, Sum{}, "barrier");
}

}  // namespace hccl::inline v0
