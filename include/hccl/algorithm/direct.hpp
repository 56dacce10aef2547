// SPDX-License-Identifier: Apache-2.0
#pragma once

// Direct: every rank works in the memory of all others.

#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/cost.hpp>

#include <concepts>
#include <string_view>

namespace hccl::inline v0 {

/// One pass over memory that all ranks reach; not a schedule of messages. Needs a SharedAddressTransport.
///
/// Each rank tells the others where its buffers are. The owner of a block then reads it from all inputs, combines it in
/// rank order in a piece that stays in the cache, and writes it to every output: p n bytes read and p n written by p
/// ranks for an allreduce of n bytes, and nobody can do with less. A rank returns when all have finished. What fits
/// into a note travels in it instead, and every rank combines all of it: one note a rank, and no second wait. What others
/// do not reach, a rank copies chunk by chunk to where they do: its window.
///
/// Offers the collectives of `DoneDirectly`, with shares of equal size. Keeps rank order.
struct Direct {
  static constexpr std::string_view name = "direct";
};

/// A collective that `Direct` offers.
template <class C>
concept DoneDirectly =
    std::same_as<C, AllReduce> || std::same_as<C, ReduceScatter> || std::same_as<C, AllGather> ||
    std::same_as<C, Broadcast> || std::same_as<C, Reduce> || std::same_as<C, AllToAll>;

/// The price of `Direct` over `ranks` ranks: the way of a note, and what a rank moves and reduces of the buffer of all
/// blocks. That is what two rounds of `Mesh` move, or one, without messages.
template <DoneDirectly C>
constexpr price price_of_direct(int ranks, const link_model& link) {
  constexpr bool reduces =
      std::same_as<C, AllReduce> || std::same_as<C, ReduceScatter> || std::same_as<C, Reduce>;
  constexpr int ways = std::same_as<C, AllReduce> ? 2 : 1;
  const double others = static_cast<double>(ranks - 1) / ranks;
  return {.fixed = link.latency,
          .seconds_per_byte = others * (ways * link.seconds_per_byte + (reduces ? link.reduction : 0))};
}

}  // namespace hccl::inline v0
