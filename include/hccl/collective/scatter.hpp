// SPDX-License-Identifier: Apache-2.0
#pragma once

// scatter: each rank gets its share of what the root has.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>

#include <cstddef>
#include <span>

namespace hccl::inline v0 {

/// Gives rank r the r-th of p equal parts of the input of the root.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers Scatter. in: p * n elements on the root,
/// elsewhere anything, which is not read; out: n elements, the same number on every rank. On the root the two are
/// apart, or `out` is element root * n and the following of `in` (in place). Every rank calls it, with the same root.
/// Throws as `allreduce`.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void scatter(communicator<Net>& comm, In&& in, Out&& out, int root = 0) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in, comm.rank() == root);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.root(root);
    arguments.not_null("output", output);
    if (comm.rank() != root) return;
    arguments.not_null("input", input);
    arguments.count("input", input.size(), static_cast<std::size_t>(comm.size()) * output.size());
    arguments.in_place_or_apart(input, output, -root * static_cast<std::ptrdiff_t>(output.size()));
  };
  detail::operate<Net>(comm, Scatter::name, check, [&](auto& state) {
    const auto parts = division::equal(comm.size(), output.size());
    detail::move_elements<Algo>(state, Scatter{root}, detail::transfer(input, output, parts, output.size()));
  });
}

}  // namespace hccl::inline v0
