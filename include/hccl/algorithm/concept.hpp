// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an algorithm is.

#include <hccl/algorithm/auto.hpp>
#include <hccl/schedule/combinators.hpp>

#include <concepts>
#include <string_view>

namespace hccl::inline v0 {

/// A named policy: `Auto`, or an empty type with a schedule for at least one collective.
///
/// For a collective tag C it has `static constexpr int rounds(C, const group&)` and
/// `static constexpr void steps(C, const group&, int self, int round, auto&& emit)`, which calls `emit(step)`
/// for each step of rank `self` in that round. Optional: `blocks(C, group)` (else one block a rank) and
/// `keeps_order(C)` (else false). Other collectives are derived, see `schedule_of`. Check your own with
/// `verify`; docs/write-your-own-algorithm.md shows one.
template <class A>
concept Algorithm =
    requires {
      { A::name } -> std::convertible_to<std::string_view>;
    } && (std::same_as<A, Auto> || Offers<A, AllReduce> || Offers<A, ReduceScatter> || Offers<A, AllGather> ||
          Offers<A, Broadcast> || Offers<A, Reduce>);

/// Fails to compile, with a sentence, unless algorithm A can do the collective C with a reduction that
/// commutes or does not.
template <class A, class C, bool Commutes = true>
consteval bool check_algorithm() {
  static_assert(
      requires {
        { A::name } -> std::convertible_to<std::string_view>;
      }, "hccl: an algorithm needs `static constexpr std::string_view name`");
  if constexpr (!std::same_as<A, Auto>) {
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
