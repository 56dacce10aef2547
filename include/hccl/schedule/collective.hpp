// SPDX-License-Identifier: Apache-2.0
#pragma once

// The collectives that an algorithm can offer, as tags, and what each rank holds before and after.

#include <hccl/schedule/step.hpp>

#include <concepts>
#include <string_view>
#include <tuple>

namespace hccl::inline v0 {

/// What a rank holds of the buffer of all blocks.
enum class portion {
  all,            ///< every rank holds all of it
  all_at_root,    ///< the root holds all of it, the others nothing
  all_but_first,  ///< every rank but rank 0 holds all of it
  share,          ///< rank r holds the blocks that belong to it, see `Shared`
};

/// Every rank gets the combination of all inputs.
struct AllReduce {
  static constexpr std::string_view name = "allreduce";
  static constexpr portion input = portion::all, output = portion::all;
};

/// Rank r gets share r of the combination of all inputs.
struct ReduceScatter {
  static constexpr std::string_view name = "reduce_scatter";
  static constexpr portion input = portion::all, output = portion::share;
};

/// Every rank gets the inputs of all ranks, in rank order.
struct AllGather {
  static constexpr std::string_view name = "allgather";
  static constexpr portion input = portion::share, output = portion::all;
};

/// Every rank gets the input of the root.
struct Broadcast {
  int root = 0;
  static constexpr std::string_view name = "broadcast";
  static constexpr portion input = portion::all_at_root, output = portion::all;
};

/// The root gets the combination of all inputs.
struct Reduce {
  int root = 0;
  static constexpr std::string_view name = "reduce";
  static constexpr portion input = portion::all, output = portion::all_at_root;
};

/// Rank r gets share r of the input of the root.
struct Scatter {
  int root = 0;
  static constexpr std::string_view name = "scatter";
  static constexpr portion input = portion::all_at_root, output = portion::share;
};

/// The root gets the inputs of all ranks, in rank order.
struct Gather {
  int root = 0;
  static constexpr std::string_view name = "gather";
  static constexpr portion input = portion::share, output = portion::all_at_root;
};

/// Rank r gets share r of the inputs of all ranks, in rank order. Shares have any size; no rank knows more than
/// those that it sends and receives, so that scratch cannot hold any.
struct AllToAllV {
  static constexpr std::string_view name = "alltoallv";
  static constexpr portion input = portion::all, output = portion::all;
};

/// The case of `AllToAllV` in which all shares are equally large, and scratch holds them too.
struct AllToAll : AllToAllV {
  static constexpr std::string_view name = "alltoall";
};

/// Rank r gets the combination of the inputs of ranks 0 to r.
struct Scan {
  static constexpr std::string_view name = "scan";
  static constexpr portion input = portion::all, output = portion::all;
};

/// Rank r gets the combination of the inputs of ranks 0 to r - 1; rank 0 gets nothing.
struct ExScan {
  static constexpr std::string_view name = "exscan";
  static constexpr portion input = portion::all, output = portion::all_but_first;
};

/// Every collective that an algorithm can offer.
using collectives = std::tuple<AllReduce, ReduceScatter, AllGather, Broadcast, Reduce, Scatter, Gather,
                               AllToAll, AllToAllV, Scan, ExScan>;

/// One of the collectives above.
template <class C>
concept Collective = std::default_initializable<C> && requires {
  { C::name } -> std::convertible_to<std::string_view>;
  { C::input } -> std::convertible_to<portion>;
  { C::output } -> std::convertible_to<portion>;
};

/// A collective with a root.
template <class C>
concept Rooted = Collective<C> && requires(C c) {
  { c.root } -> std::convertible_to<int>;
};

/// A collective in which every rank sends something of its own to every other.
template <class C>
concept Transposing = std::same_as<C, AllToAll> || std::same_as<C, AllToAllV>;

/// A collective in which rank r gets what ranks up to r put in.
template <class C>
concept Scanning = std::same_as<C, Scan> || std::same_as<C, ExScan>;

/// A collective whose blocks belong to ranks: of `blocks` blocks over n ranks, the share of rank r is the
/// `blocks / n` from `r * blocks / n` on. Shares may differ in size, except those of `AllToAll`.
template <class C>
concept Shared =
    Transposing<C> || (Collective<C> && (C::input == portion::share || C::output == portion::share));

/// Tells whether `rank` holds block `block` of a buffer of `blocks` blocks over `ranks` ranks.
constexpr bool holds(portion what, int root, int rank, int block, int blocks, int ranks) {
  switch (what) {
    case portion::all:
      return true;
    case portion::all_at_root:
      return rank == root;
    case portion::all_but_first:
      return rank != 0;
    case portion::share:
      return block / (blocks / ranks) == rank;
  }
  return false;
}

/// The root of a collective, 0 where there is none.
template <Collective C>
constexpr int root_of(const C& collective) {
  if constexpr (Rooted<C>) return collective.root;
  return 0;
}

/// Tells whether `where` holds block `block` on `rank` for this collective. Scratch holds every block, unless
/// nobody knows its size.
template <Collective C>
constexpr bool holds(const C& collective, place where, int rank, int block, int blocks, int ranks) {
  if (where == place::scratch) return !std::same_as<C, AllToAllV>;
  return holds(where == place::input ? C::input : C::output, root_of(collective), rank, block, blocks, ranks);
}

}  // namespace hccl::inline v0
