// SPDX-License-Identifier: Apache-2.0
#pragma once

// reduce: the root gets the combination of all inputs.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <span>

namespace hccl::inline v0 {

/// Combines the inputs of all ranks element by element; the root gets the result.
///
/// As `allreduce`, but `out` is used on the root only, where it has as many elements as `in`; elsewhere it
/// may be empty and is not written. `root` is the same on all ranks.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void reduce(communicator<Net>& comm, In&& in, Out&& out, int root = 0, Op op = {}) {
  using E = detail::element_t<T, In>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out, comm.rank() == root);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.root(root);
    arguments.not_null("input", input);
    if (comm.rank() == root) {
      arguments.not_null("output", output);
      arguments.count("output", output.size(), input.size());
      arguments.in_place_or_apart(input, output);
    }
  };
  detail::operate<Net>(comm, Reduce::name, check, [&](auto& state) {
    const auto all = division::whole(input.size());
    detail::reduce_elements<Algo>(state, Reduce{root}, detail::transfer(input, output, all, input.size()),
                                  op);
  });
}

/// As above; on the root the result replaces the input, elsewhere `data` is only read.
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data>
void reduce(communicator<Net>& comm, Data&& data, int root = 0, Op op = {}) {
  reduce<T, Op, Algo>(comm, data, data, root, op);
}

}  // namespace hccl::inline v0
