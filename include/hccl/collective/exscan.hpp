// SPDX-License-Identifier: Apache-2.0
#pragma once

// exscan: each rank gets the combination of the inputs before its own.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <span>

namespace hccl::inline v0 {

/// Combines element by element the inputs of ranks 0 to r - 1, for each rank r: the exclusive prefix. The output of
/// rank 0 is not written, since nothing comes before it.
///
/// As `scan` otherwise. Algo: an Algorithm that offers ExScan.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void exscan(communicator<Net>& comm, In&& in, Out&& out, Op op = {}) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    arguments.count("output", output.size(), input.size());
    arguments.in_place_or_apart(input, output);
  };
  detail::operate<Net>(comm, ExScan::name, check, [&](auto& state) {
    const auto all = division::whole(input.size());
    const auto result = comm.rank() == 0 ? std::span<E>() : output;
    detail::reduce_elements<Algo>(state, ExScan{}, detail::transfer(input, result, all, input.size()), op);
  });
}

/// As above, in place.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data> && detail::Callable<Op>
void exscan(communicator<Net>& comm, Data&& data, Op op = {}) {
  exscan<T, Op, Algo>(comm, data, data, op);
}

}  // namespace hccl::inline v0
