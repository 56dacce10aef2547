// SPDX-License-Identifier: Apache-2.0
#pragma once

// allgatherv: every rank gets the inputs of all ranks, which may differ in size.

#include <hccl/algorithm/direct.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/collective/shares.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

namespace hccl::inline v0 {

/// Puts the input of rank r into share r of the output, on every rank.
///
/// T: an Element, deduced unless given. Algo: an Algorithm that offers AllGather. in: as many elements as share
/// `rank` of `parts`; out: room for all shares, which do not overlap; what lies between them stays as it is. The
/// counts are the same on all ranks, offsets need not be. Apart, or `in` is share `rank` of `out` (in place). Every
/// rank calls it, also one that has nothing to send. Throws as `allreduce`.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void allgatherv(communicator<Net>& comm, In&& in, Out&& out, const shares& parts) {
  static_assert(!std::same_as<Algo, Direct>, "hccl: Direct needs shares of equal size");
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    const extent own = detail::check_shares(comm, arguments, parts, output.size(), detail::is_written);
    arguments.count("input", input.size(), own.count);
    arguments.in_place_or_apart(input, output, static_cast<std::ptrdiff_t>(own.offset));
  };
  detail::operate<Net>(comm, "allgatherv", check, [&](auto& state) {
    detail::move_elements<Algo>(state, AllGather{}, detail::shared_transfer(state, input, output, parts));
  });
}

}  // namespace hccl::inline v0
