// SPDX-License-Identifier: Apache-2.0
#pragma once

// alltoallv: every rank sends every rank a part of its own, of any size.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/collective/shares.hpp>

#include <cstddef>
#include <span>

namespace hccl::inline v0 {

namespace detail {

template <Transport Net>
void check_exchange(communicator<Net>& comm, const arguments& arguments, const auto& in, const shares& sent,
                    const auto& out, const shares& received) {
  arguments.not_null("input", in);
  arguments.not_null("output", out);
  arguments.fit("sent", sent, in.size());
  arguments.fit("received", received, out.size());
  arguments.disjoint("received", received, access::of(comm).lists[0]);
  const auto self = static_cast<std::size_t>(comm.rank());
  arguments.count("received: this rank's own share", received.counts()[self], sent.counts()[self]);
  arguments.same_or_apart(in, out);
}

template <class Algo, class State>
void run_exchange(State& state, const auto& in, const shares& sent, const auto& out, const shares& received) {
  transfer t(apart_from(state, in, out), out, {}, 0);
  t.in_parts = divided(sent, state.lists[0]);
  t.out_parts = t.scratch_parts = divided(received, state.lists[1]);
  move_elements<Algo>(state, AllToAllV{}, t);
}

}  // namespace detail

/// Sends share r of the input to rank r, and puts what comes from rank r into share r of the output.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers AllToAllV. in, out: room for all shares of
/// `sent` and `received`; the latter do not overlap, and what lies between them stays as it is. What rank i sends to
/// rank j has as many elements as j receives from i; a pair that sends nothing exchanges no elements. Apart, or the
/// same buffer (in place, by way of a copy of the input). Every rank calls it, also a silent one. Throws as
/// `allreduce`; `mismatch` names the pair that disagrees.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void alltoallv(communicator<Net>& comm, In&& in, const shares& sent, Out&& out, const shares& received) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    detail::check_exchange(comm, arguments, input, sent, output, received);
  };
  detail::operate<Net>(comm, AllToAllV::name, check, [&](auto& state) {
    detail::run_exchange<Algo>(state, input, sent, output, received);
  });
}

/// As above, for ranks that know who sends how much to whom: rank i sends `matrix[i * p + j]` elements to rank j.
/// Shares lie one behind the other. matrix: p * p sizes, the same on all ranks.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out, class Matrix>
  requires detail::Buffer<In> && detail::Buffer<Out> && detail::SizeList<Matrix>
void alltoallv(communicator<Net>& comm, In&& in, Out&& out, const Matrix& matrix) {
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const std::span<const std::size_t> counts(matrix);
  const auto n = static_cast<std::size_t>(comm.size()), self = static_cast<std::size_t>(comm.rank());
  auto& received = detail::access::of(comm).lists[2];
  const auto sent = [&] { return counts.subspan(self * n, n); };
  const auto check = [&](const detail::arguments& arguments) {
    arguments.count("matrix", counts.size(), n * n);
    received.resize(n);
    for (std::size_t peer = 0; peer < n; ++peer) received[peer] = counts[peer * n + self];
    detail::check_exchange(comm, arguments, input, sent(), output, received);
  };
  detail::operate<Net>(comm, AllToAllV::name, check, [&](auto& state) {
    detail::run_exchange<Algo>(state, input, sent(), output, shares(received));
  });
}

}  // namespace hccl::inline v0
