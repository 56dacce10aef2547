// SPDX-License-Identifier: Apache-2.0
#pragma once

// gather: the root gets the inputs of all ranks.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>

#include <cstddef>
#include <span>

namespace hccl::inline v0 {

/// Puts the inputs of all ranks one behind the other, in rank order, on the root.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers Gather. in: n elements, the same number on
/// every rank; out: p * n elements on the root, elsewhere anything, which is not written. On the root the two are
/// apart, or `in` is element root * n and the following of `out` (in place). Every rank calls it, with the same root.
/// Throws as `allreduce`.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void gather(communicator<Net>& comm, In&& in, Out&& out, int root = 0) {
  using E = detail::element_t<T, In>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out, comm.rank() == root);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.root(root);
    arguments.not_null("input", input);
    if (comm.rank() != root) return;
    arguments.not_null("output", output);
    arguments.count("output", output.size(), static_cast<std::size_t>(comm.size()) * input.size());
    arguments.in_place_or_apart(input, output, root * static_cast<std::ptrdiff_t>(input.size()));
  };
  detail::operate<Net>(comm, Gather::name, check, [&](auto& state) {
    const auto parts = division::equal(comm.size(), input.size());
    detail::move_elements<Algo>(state, Gather{root}, detail::transfer(input, output, parts, input.size()));
  });
}

}  // namespace hccl::inline v0
