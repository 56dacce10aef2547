// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an algorithm is.

#include <hccl/algorithm/auto.hpp>
#include <hccl/algorithm/direct.hpp>
#include <hccl/schedule/combinators.hpp>

#include <concepts>
#include <string_view>
#include <tuple>

namespace hccl::inline v0 {

namespace detail {

template <class A, class... Cs>
consteval bool offers_any(const std::tuple<Cs...>*) {
  return (Offers<A, Cs> || ...);
}

}  // namespace detail

/// A named policy: `Auto`, `Direct`, or an empty type with a schedule for at least one collective.
///
/// For a collective tag C it has `static constexpr int rounds(C, const group&)` and `static constexpr void steps(C,
/// const group&, int self, int round, auto&& emit)`, which calls `emit(step)` for each step of rank `self` in that
/// round. Optional: `blocks(C, group)` (else one block a rank), `keeps_order(C)` and `needs_scratch` (else false).
/// Other collectives are derived, see `schedule_of`. Check your own with `verify`; docs/write-your-own-algorithm.md
/// shows one.
template <class A>
concept Algorithm =
    requires {
      { A::name } -> std::convertible_to<std::string_view>;
    } && (std::same_as<A, Auto> || std::same_as<A, Direct> ||
          detail::offers_any<A>(static_cast<const collectives*>(nullptr)));

/// Fails to compile, with a sentence, unless algorithm A can do the collective C with a reduction that
/// commutes or does not.
template <class A, class C, bool Commutes = true>
consteval bool check_algorithm() {
  static_assert(
      requires {
        { A::name } -> std::convertible_to<std::string_view>;
      }, "hccl: an algorithm needs `static constexpr std::string_view name`");
  if constexpr (std::same_as<A, Direct>) {
    static_assert(
        DoneDirectly<C>,
        "hccl: Direct offers allreduce, reduce, reduce_scatter, broadcast, allgather and alltoall only");
  } else if constexpr (!std::same_as<A, Auto>) {
    static_assert(
        Offers<A, C>,
        "hccl: this algorithm does not offer this collective; it needs `rounds` and `steps` for its tag");
    if constexpr (Offers<A, C>) {
      static_assert(Commutes || keeps_order<schedule_of<A, C>, C>,
                    "hccl: the reduction does not commute, but this algorithm does not keep rank order; use "
                    "Mesh, OneShotMesh, "
                    "BinomialTree or Auto");
    }
  }
  return true;
}

}  // namespace hccl::inline v0
