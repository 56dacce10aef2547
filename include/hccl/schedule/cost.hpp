// SPDX-License-Identifier: Apache-2.0
#pragma once

// The price of a schedule on a link.

#include <hccl/core/link_model.hpp>
#include <hccl/schedule/combinators.hpp>

#include <algorithm>

namespace hccl::inline v0 {

/// What a schedule asks of the rank on its critical path, in units of the whole buffer where bytes are meant.
struct price {
  double rounds = 0;    ///< latencies, one behind the other
  double messages = 0;  ///< messages handled
  double volume = 0;    ///< bytes through the link, whichever direction has more in a round
  double reduced = 0;   ///< bytes combined

  /// The time in seconds for a buffer of `bytes` on `link`.
  constexpr double seconds(double bytes, const link_model& link) const {
    return rounds * link.latency + messages * link.overhead +
           bytes * (volume * link.seconds_per_byte + reduced * link.reduction);
  }
};

/// Prices A's schedule for `c` over `g`: it is played for a few ranks (the first two, the middle, the last
/// and the root), and of each round the dearest counts. O(rounds * steps of a round).
template <class A, Collective C>
  requires Offers<A, C>
constexpr price price_of(const group& g, const C& c = {}) {
  using S = schedule_of<A, C>;
  price sum;
  if (g.size() == 1) return sum;
  const double blocks = blocks_of<S>(c, g);
  const int rounds = S::rounds(c, g);
  int root = 0;
  if constexpr (Rooted<C>) root = c.root;
  for (int round = 0; round < rounds; ++round) {
    price dearest;
    for (const int self : {0, 1, g.size() / 2, g.size() - 1, root}) {
      double sends = 0, arrivals = 0, sent = 0, arrived = 0, reduced = 0;
      S::steps(c, g, self, round, [&](const step& s) {
        const double share = s.blocks.count / blocks;
        if (s.what == action::reduce || s.what == action::reduce_front) reduced += share;
        if (s.peer == self) return;
        (s.what == action::send ? sends : arrivals) += 1;
        (s.what == action::send ? sent : arrived) += share;
      });
      dearest.messages = std::max({dearest.messages, sends, arrivals});
      dearest.volume = std::max({dearest.volume, sent, arrived});
      dearest.reduced = std::max(dearest.reduced, reduced);
    }
    sum.rounds += dearest.messages > 0 ? 1 : 0;
    sum.messages += dearest.messages;
    sum.volume += dearest.volume;
    sum.reduced += dearest.reduced;
  }
  return sum;
}

/// The time in seconds that A takes for `c` over `g` when the buffer of all blocks has `bytes` bytes. A first
/// model: all ranks have the same link, and rounds do not overlap.
template <class A, Collective C>
  requires Offers<A, C>
constexpr double cost(const group& g, double bytes, const link_model& link, const C& c = {}) {
  return price_of<A>(g, c).seconds(bytes, link);
}

}  // namespace hccl::inline v0
