// SPDX-License-Identifier: Apache-2.0
#pragma once

// reduce_scatter: rank r gets part r of the combination of all inputs.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <cstddef>

namespace hccl::inline v0 {

/// Combines the inputs of all ranks element by element; rank r gets part r of the p equal parts of the
/// result.
///
/// As `allreduce`, with in: p * n elements, out: n elements, the same n on every rank. Apart, or `out` is
/// element rank * n and the following of `in` (in place; the rest of `in` is unchanged).
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void reduce_scatter(communicator<Net>& comm, In&& in, Out&& out, Op op = {}) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    arguments.count("input", input.size(), static_cast<std::size_t>(comm.size()) * output.size());
    arguments.in_place_or_apart(input, output, -comm.rank() * static_cast<std::ptrdiff_t>(output.size()));
  };
  detail::operate<Net>(comm, ReduceScatter::name, check, [&](auto& state) {
    const auto parts = division::equal(comm.size(), output.size());
    detail::reduce_elements<Algo>(state, ReduceScatter{},
                                  detail::transfer(input, output, parts, output.size()), op);
  });
}

/// As above, in place: the result replaces part `rank` of `data`, the other parts are unchanged.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data> && detail::Callable<Op>
void reduce_scatter(communicator<Net>& comm, Data&& data, Op op = {}) {
  const auto all = detail::output_span<detail::element_t<T, Data>>(data);
  detail::arguments(ReduceScatter::name, comm.rank(), comm.size()).multiple_of_size("data", all.size());
  const std::size_t count = all.size() / static_cast<std::size_t>(comm.size());
  reduce_scatter<T, Op, Algo>(comm, all, all.subspan(static_cast<std::size_t>(comm.rank()) * count, count),
                              op);
}

}  // namespace hccl::inline v0
