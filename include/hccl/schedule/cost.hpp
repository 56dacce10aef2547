// SPDX-License-Identifier: Apache-2.0
#pragma once

// The price of a schedule on the links of a transport.

#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/view.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace hccl::inline v0 {

/// The time of a schedule, linear in the bytes of the buffer of all blocks.
struct price {
  double fixed = 0;             ///< seconds, however few bytes
  double seconds_per_byte = 0;  ///< and for each byte of the buffer

  constexpr double seconds(double bytes) const { return fixed + bytes * seconds_per_byte; }
};

namespace detail {

/// The most that any rank, or any host, has to do in a round. Bytes are parts of the buffer, in the direction that
/// has more, or in both if a rank copies them.
struct round_load {
  bool is_idle = true;
  double fixed = 0;    // seconds
  double inside = 0;   // bytes through the link of a rank
  double between = 0;  // bytes through the link of a host
  double reduced = 0;  // bytes combined
};

/// Plays one round for some ranks in ascending order; `steps(self, take)` are the steps of rank `self`. The link of a
/// host carries what those of its ranks that are played send and get.
constexpr round_load play(const group& g, int blocks, const link_model& link, std::span<const int> ranks,
                          auto&& steps) {
  round_load most;
  int begin = 0, end = 0;            // the ranks of the host
  double leaving = 0, entering = 0;  // the host
  for (const int self : ranks) {
    if (self >= end) {
      const int host = g.host_of(self);
      begin = g.first_of(host);
      end = g.first_of(host + 1);
      leaving = entering = 0;
    }
    int sends = 0, arrivals = 0;
    double sent = 0, arrived = 0, reduced = 0, latency = 0;
    steps(self, [&](const step& s) {
      most.is_idle = false;
      const double part = static_cast<double>(s.blocks.count) / blocks;
      const bool is_send = s.what == action::send;
      if (s.what == action::reduce || s.what == action::reduce_front) reduced += part;
      if (s.peer == self) return;
      const bool is_inside = begin <= s.peer && s.peer < end;
      latency = std::max(latency, is_inside ? link.latency : link.host_latency);
      (is_send ? sends : arrivals) += 1;
      (is_send ? is_inside ? sent : leaving : is_inside ? arrived : entering) += part;
    });
    most.fixed = std::max(most.fixed, latency + std::max(sends, arrivals) * link.overhead);
    most.inside = std::max(most.inside, link.is_copied ? sent + arrived : std::max(sent, arrived));
    most.between = std::max({most.between, leaving, entering});
    most.reduced = std::max(most.reduced, reduced);
  }
  return most;
}

/// Prices a schedule by playing it for some ranks in ascending order; `steps(self, round, take)` are the steps of rank
/// `self` in a round.
constexpr price play_rounds(const group& g, int blocks, int rounds, const link_model& link,
                            std::span<const int> ranks, auto&& steps) {
  price sum;
  round_load most;
  for (int round = 0; round < rounds; ++round) {
    const round_load load =
        play(g, blocks, link, ranks, [&](int self, auto&& take) { steps(self, round, take); });
    if (!load.is_idle) most = load;
    sum.fixed += most.fixed;
    sum.seconds_per_byte +=
        std::max(most.inside * link.seconds_per_byte, most.between * link.host_seconds_per_byte) +
        most.reduced * link.reduction;
  }
  return sum;
}

/// At most about this many ranks stand for all.
inline constexpr int played_ranks = 64;

/// Ranks that stand for all, in ascending order: those of whole hosts, or of one host single ranks. They lie at equal
/// distances from the first to the last; the second, that of the root, the largest and the smallest are among them.
constexpr std::vector<int> representatives(const group& g, int root) {
  const bool is_flat = g.hosts() == 1;
  const auto first_of = [&](int part) { return is_flat ? part : g.first_of(part); };
  const auto size_of = [&](int part) { return first_of(part + 1) - first_of(part); };
  const int parts = is_flat ? g.size() : g.hosts();

  std::vector<int> chosen{1 % parts, is_flat ? root : g.host_of(root)};
  const int steps = std::min(parts, played_ranks * parts / g.size() + 2) - 1;
  int smallest = 0, largest = 0;
  for (int part = 0; part < parts; ++part) {
    if (size_of(part) < size_of(smallest)) smallest = part;
    if (size_of(part) > size_of(largest)) largest = part;
  }
  for (int k = 0; k <= steps; ++k) chosen.push_back(k * (parts - 1) / steps);
  chosen.insert(chosen.end(), {smallest, largest});
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());

  std::vector<int> ranks;
  for (const int part : chosen) {
    for (int rank = first_of(part); rank < first_of(part + 1); ++rank) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace detail

/// Prices A's schedule for `c` over `g` on the links of `link`.
///
/// Rounds follow one another. A round takes the latency and the overhead of the rank that has most of them, the time
/// of its dearest link, and the reduction of the rank that reduces most. Links are that of a rank inside its host, and
/// that of a host, which carries all that its ranks exchange with other hosts; of the two directions the one with more
/// bytes counts, or, inside a host where a rank copies itself, both.
///
/// Not all ranks are played but some 64 that stand for all: of one host at equal distances from the first to the last,
/// besides the second and the root; of several hosts all ranks of hosts at equal distances, of that of the root and of
/// the largest and the smallest. A round in which none of them does anything costs as much as the one before. So the
/// price is exact up to 64 ranks. Beyond, it is too low by at most a third, where a rank that is not played has most
/// to do; `DoubleBinaryTree` comes closest to that. Ring over 4,096 ranks takes 0.05 s, see docs/tuning.md.
///
/// Works in constant expressions.
template <class A, Collective C>
  requires Offers<A, C>
constexpr price price_of(const group& g, const link_model& link, const C& c = {}) {
  using S = schedule_of<A, C>;
  if (g.size() == 1) return {};
  return detail::play_rounds(g, blocks_of<S>(c, g), S::rounds(c, g), link,
                             detail::representatives(g, root_of(c)),
                             [&](int self, int round, auto&& take) { S::steps(c, g, self, round, take); });
}

/// As above, of a schedule whose types are erased.
inline price price_of(const schedule_view& schedule, const link_model& link) {
  const group& g = schedule.ranks();
  if (g.size() == 1) return {};
  return detail::play_rounds(g, schedule.blocks(), schedule.rounds(), link,
                             detail::representatives(g, schedule.root()),
                             [&](int self, int round, auto&& take) { schedule.steps(self, round, take); });
}

/// The time in seconds that A takes for `c` over `g` when the buffer of all blocks has `bytes` bytes, by `price_of`.
template <class A, Collective C>
  requires Offers<A, C>
constexpr double cost(const group& g, double bytes, const link_model& link, const C& c = {}) {
  return price_of<A>(g, link, c).seconds(bytes);
}

}  // namespace hccl::inline v0
