// SPDX-License-Identifier: Apache-2.0
#pragma once

// exscan: each rank gets the combination of the inputs before its own.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

namespace hccl::inline v0 {

/// Combines element by element the inputs of ranks 0 to r - 1, for each rank r: the exclusive prefix. The output of
/// rank 0 is not written, since nothing comes before it.
///
/// As `scan` otherwise. Algo: an Algorithm that offers ExScan.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void exscan(communicator<Net>& comm, In&& in, Out&& out, Op op = {}) {
  detail::reduce_whole<T, Algo>(comm, ExScan{}, in, out, op);
}

/// As above, in place.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data> && detail::Callable<Op>
void exscan(communicator<Net>& comm, Data&& data, Op op = {}) {
  exscan<T, Op, Algo>(comm, data, data, op);
}

}  // namespace hccl::inline v0
