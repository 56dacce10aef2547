// SPDX-License-Identifier: Apache-2.0
#pragma once

// The collectives that an algorithm can offer, as tags, and what each rank holds before and after.

#include <hccl/schedule/step.hpp>

#include <concepts>
#include <string_view>

namespace hccl::inline v0 {

/// Every rank gets the combination of all inputs.
struct AllReduce {
  static constexpr std::string_view name = "allreduce";
};

/// Rank r gets part r of the combination of all inputs.
struct ReduceScatter {
  static constexpr std::string_view name = "reduce_scatter";
};

/// Every rank gets the inputs of all ranks, in rank order.
struct AllGather {
  static constexpr std::string_view name = "allgather";
};

/// Every rank gets the input of the root.
struct Broadcast {
  int root = 0;
  static constexpr std::string_view name = "broadcast";
};

/// The root gets the combination of all inputs.
struct Reduce {
  int root = 0;
  static constexpr std::string_view name = "reduce";
};

/// One of the collectives above.
template <class C>
concept Collective = std::default_initializable<C> && requires {
  { C::name } -> std::convertible_to<std::string_view>;
};

/// A collective with a root.
template <class C>
concept Rooted = Collective<C> && requires(C c) {
  { c.root } -> std::convertible_to<int>;
};

/// A collective whose blocks belong to ranks: of `blocks` blocks over n ranks, rank r owns `blocks / n` from
/// `r * blocks / n` on.
template <class C>
concept Owned = std::same_as<C, ReduceScatter> || std::same_as<C, AllGather>;

/// Tells whether `place` holds block `block` on `rank`, for a collective that cuts its buffer into `blocks`
/// blocks over `ranks` ranks. Scratch holds every block.
template <Collective C>
constexpr bool holds(const C& collective, place where, int rank, int block, int blocks, int ranks) {
  if (where == place::scratch) return true;
  const bool is_input = where == place::input;
  if constexpr (Owned<C>) {
    const bool holds_all = is_input == std::same_as<C, ReduceScatter>;
    return holds_all || block / (blocks / ranks) == rank;
  } else if constexpr (std::same_as<C, Broadcast>) {
    return !is_input || rank == collective.root;
  } else if constexpr (std::same_as<C, Reduce>) {
    return is_input || rank == collective.root;
  } else {
    return true;
  }
}

}  // namespace hccl::inline v0
