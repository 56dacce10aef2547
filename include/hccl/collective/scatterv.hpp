// SPDX-License-Identifier: Apache-2.0
#pragma once

// scatterv: each rank gets its share of what the root has, and shares may differ in size.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/execute.hpp>
#include <hccl/collective/shares.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace hccl::inline v0 {

/// Gives rank r share r of the input of the root.
///
/// As `scatter`, but shares have the sizes and positions that `parts` says. The counts are the same on all ranks, not
/// on the root only, so that ranks on the way know what they pass on; offsets matter on the root.
template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires detail::Buffer<In> && detail::Buffer<Out>
void scatterv(communicator<Net>& comm, In&& in, Out&& out, const shares& parts, int root = 0) {
  using E = detail::element_t<T, Out>;
  const bool is_root = comm.rank() == root;
  const auto input = detail::input_span<E>(in, is_root);
  const auto output = detail::output_span<E>(out);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.root(root);
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    const extent own = detail::check_shares(comm, arguments, parts,
                                            is_root ? input.size() : detail::elsewhere<E>, detail::is_read);
    arguments.count("output", output.size(), own.count);
    if (is_root) arguments.in_place_or_apart(input, output, -static_cast<std::ptrdiff_t>(own.offset));
  };
  detail::operate<Net>(comm, "scatterv", check, [&](auto& state) {
    detail::move_elements<Algo>(state, Scatter{root}, detail::shared_transfer(state, input, output, parts));
  });
}

}  // namespace hccl::inline v0
