// SPDX-License-Identifier: Apache-2.0
#pragma once

// allgather: every rank gets the inputs of all ranks.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>

#include <cstddef>

namespace hccl::inline v0 {

/// Puts the inputs of all ranks one behind the other, in rank order, on every rank.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers AllGather.
/// in: n elements, the same number on every rank; out: p * n elements. Apart, or `in` is element rank * n and
/// the following of `out` (in place). Every rank calls it. Throws as `allreduce`.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void allgather(communicator<Net>& comm, In&& in, Out&& out) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    arguments.count("output", output.size(), static_cast<std::size_t>(comm.size()) * input.size());
    arguments.in_place_or_apart(input, output, comm.rank() * static_cast<std::ptrdiff_t>(input.size()));
  };
  detail::operate<Net>(comm, AllGather::name, check, [&](auto& state) {
    const auto parts = division::equal(comm.size(), input.size());
    detail::move_elements<Algo>(state, AllGather{}, detail::transfer(input, output, parts, input.size()));
  });
}

/// As above, in place: part `rank` of the p equal parts of `data` is this rank's input.
template <class T = void, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data>
void allgather(communicator<Net>& comm, Data&& data) {
  const auto all = detail::output_span<detail::element_t<T, Data>>(data);
  detail::arguments(AllGather::name, comm.rank(), comm.size()).multiple_of_size("data", all.size());
  const std::size_t count = all.size() / static_cast<std::size_t>(comm.size());
  allgather<T, Algo>(comm, all.subspan(static_cast<std::size_t>(comm.rank()) * count, count), all);
}

}  // namespace hccl::inline v0
