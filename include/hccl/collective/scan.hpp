// SPDX-License-Identifier: Apache-2.0
#pragma once

// scan: each rank gets the combination of the inputs up to its own.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

namespace hccl::inline v0 {

/// Combines element by element the inputs of ranks 0 to r, for each rank r: the inclusive prefix.
///
/// As `allreduce`, with another result on each rank. Algo: an Algorithm that offers Scan. Rank order is always kept.
/// Op is no mean.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void scan(communicator<Net>& comm, In&& in, Out&& out, Op op = {}) {
  detail::reduce_whole<T, Algo>(comm, Scan{}, in, out, op);
}

/// As above, in place.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data> && detail::Callable<Op>
void scan(communicator<Net>& comm, Data&& data, Op op = {}) {
  scan<T, Op, Algo>(comm, data, data, op);
}

}  // namespace hccl::inline v0
