// SPDX-License-Identifier: Apache-2.0
#pragma once

// allreduce: every rank gets the combination of all inputs.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// Combines the inputs of all ranks element by element; every rank gets the result.
///
/// T: an Element, deduced from the buffer unless given. Op: a Reduction of T. Algo: an Algorithm that offers
/// AllReduce (and keeps rank order if Op does not commute). Net: the communicator's transport. in, out:
/// contiguous buffers of equally many elements, the same number on every rank; apart, or the same buffer (in
/// place). `in` is only read. Every rank calls it, in the same order relative to other collectives; returns
/// when `out` is complete and `in` is free. Cost for p ranks and n bytes: e.g. Ring 2(p-1) rounds and
/// 2(p-1)/p n bytes sent per rank, see the algorithm. No allocation in the steady state. All ranks get the
/// same bits, in every run, whatever the algorithm. Throws `invalid_argument` (nothing sent, call again),
/// `mismatch`, `timeout`, `peer_lost`, `aborted` (then `out` is unspecified and the communicator unusable).
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void allreduce(communicator<Net>& comm, In&& in, Out&& out, Op op = {}) {
  detail::reduce_whole<T, Algo>(comm, AllReduce{}, in, out, op);
}

/// As above, in place.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data> && detail::Callable<Op>
void allreduce(communicator<Net>& comm, Data&& data, Op op = {}) {
  allreduce<T, Op, Algo>(comm, data, data, op);
}

}  // namespace hccl::inline v0
