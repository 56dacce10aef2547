// SPDX-License-Identifier: Apache-2.0
#pragma once

// broadcast: every rank gets the input of the root.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>

#include <span>

namespace hccl::inline v0 {

/// Copies the root's input to every rank.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers Broadcast.
/// in: used on the root only, apart from `out` or the same buffer; out: equally many elements on every rank.
/// `root` is the same on all ranks. Every rank calls it. Throws as `allreduce`.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void broadcast(communicator<Net>& comm, In&& in, Out&& out, int root = 0) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in, comm.rank() == root);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.root(root);
    arguments.not_null("output", output);
    if (comm.rank() == root) {
      arguments.not_null("input", input);
      arguments.count("input", input.size(), output.size());
      arguments.in_place_or_apart(input, output);
    }
  };
  detail::operate<Net>(comm, Broadcast::name, check, [&](auto& state) {
    const auto all = division::whole(output.size());
    detail::move_elements<Algo>(state, Broadcast{root}, detail::transfer(input, output, all, output.size()));
  });
}

/// As above: `data` is the input on the root and the output elsewhere.
template <class T = void, class Algo = Auto, Transport Net, class Data>
  requires detail::Buffer<Data>
void broadcast(communicator<Net>& comm, Data&& data, int root = 0) {
  broadcast<T, Algo>(comm, data, data, root);
}

}  // namespace hccl::inline v0
