// SPDX-License-Identifier: Apache-2.0
#pragma once

// alltoall: every rank sends every rank a part of its own.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>

#include <cstddef>
#include <span>

namespace hccl::inline v0 {

/// Gives rank r the r-th of p equal parts of the inputs of all ranks, in rank order.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers AllToAll. in, out: p * n elements, the same
/// number on every rank; apart, or the same buffer (in place, by way of a copy of the input). Every rank calls it.
/// Throws as `allreduce`.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void alltoall(communicator<Net>& comm, In&& in, Out&& out) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    arguments.multiple_of_size("input", input.size());
    arguments.count("output", output.size(), input.size());
    arguments.same_or_apart(input, output);
  };
  detail::operate<Net>(comm, AllToAll::name, check, [&](auto& state) {
    const std::size_t count = input.size() / static_cast<std::size_t>(comm.size());
    const auto parts = division::equal(comm.size(), count);
    const auto apart = detail::apart_from(state, input, output);
    detail::move_elements<Algo>(state, AllToAll{}, detail::transfer(apart, output, parts, count));
  });
}

/// As above, in place.
template <class T = void, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data>
void alltoall(communicator<Net>& comm, Data&& data) {
  alltoall<T, Algo>(comm, data, data);
}

}  // namespace hccl::inline v0
