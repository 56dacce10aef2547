// SPDX-License-Identifier: Apache-2.0
#pragma once

// reduce_scatterv: each rank gets its share of the combination, and shares may differ in size.

#include <hccl/algorithm/direct.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/collective/shares.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

namespace hccl::inline v0 {

/// Combines the inputs of all ranks element by element; rank r gets share r of the result.
///
/// As `reduce_scatter`, but shares have the sizes and positions that `parts` says. in: room for all shares; out: as
/// many elements as share `rank`. No two shares overlap. The counts are the same on all ranks. Apart, or `out` is share
/// `rank` of `in` (in place).
template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void reduce_scatterv(communicator<Net>& comm, In&& in, Out&& out, const shares& parts, Op op = {}) {
  static_assert(!std::same_as<Algo, Direct>, "hccl: Direct needs shares of equal size");
  using E = detail::element_t<T, Out>;
  const auto input = detail::input_span<E>(in);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    const extent own = detail::check_shares(comm, arguments, parts, input.size(), detail::is_written);
    arguments.count("output", output.size(), own.count);
    arguments.in_place_or_apart(input, output, -static_cast<std::ptrdiff_t>(own.offset));
  };
  detail::operate<Net>(comm, "reduce_scatterv", check, [&](auto& state) {
    detail::reduce_elements<Algo>(state, ReduceScatter{},
                                  detail::shared_transfer(state, input, output, parts), op);
  });
}

}  // namespace hccl::inline v0
