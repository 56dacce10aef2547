// SPDX-License-Identifier: Apache-2.0
#pragma once

// BinomialTree: the ranks are halved again and again, and the halves are joined up to the root.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <bit>
#include <string_view>

namespace hccl::inline v0 {

/// The binomial tree over intervals of ranks.
///
/// The ranks are an interval with a leader, the root. An interval is cut in two halves; the half without the
/// leader gets its first rank as leader and sends its combined contribution there. All intervals stay
/// contiguous, so rank order is kept for every root, without a detour over rank 0. ceil(log2 p) rounds of the
/// whole vector for reduce; broadcast is its mirror image, allreduce both. Scatter goes down the same tree, each
/// leader giving away the blocks of the other half, (p-1)/p of the vector from the root; gather is its mirror
/// image. For small vectors, and for rooted collectives.
///
/// Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005.
struct BinomialTree {
  static constexpr std::string_view name = "binomial_tree";

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int blocks(const Reduce&, const group&) { return 1; }

  static constexpr int rounds(const Reduce&, const group& g) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(g.size() - 1)));
  }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    // The cut at depth d is joined in round rounds - 1 - d: descend to it.
    interval mine{0, g.size(), c.root};
    for (int depth = rounds(c, g) - 1; depth > round; --depth) mine = mine.half_of(self);
    if (mine.last - mine.first < 2) return;
    const interval lower = mine.lower();
    const interval upper = mine.upper();
    const int child = mine.leader == lower.leader ? upper.leader : lower.leader;
    if (self == child) {
      emit(send_step(mine.leader, {}, holds_sum(c, g, self, round) ? place::scratch : place::input));
    } else if (self == mine.leader) {
      const place sum = self == c.root ? place::output : place::scratch;
      const place before = holds_sum(c, g, self, round) ? sum : place::input;
      emit(child > self ? reduce_step(child, {}, before, sum) : reduce_front_step(child, {}, before, sum));
    }
  }

  static constexpr int rounds(const Scatter& c, const group& g) { return rounds(Reduce{c.root}, g); }

  static constexpr void steps(const Scatter& c, const group& g, int self, int round, auto&& emit) {
    interval mine{0, g.size(), c.root};
    bool has_led = self == c.root;  // before this round
    for (int depth = 0; depth < round; ++depth) {
      has_led = self == mine.leader;
      mine = mine.half_of(self);
    }
    const place held = self == c.root ? place::input : place::scratch;
    const bool leads = self == mine.leader;
    const bool was_given = round == 0 ? leads : leads && !has_led;  // by the round before
    if (was_given && (round == 0 || mine.last - mine.first > 1)) {
      emit(send_step(self, {self}, held));
      emit(receive_step(self, {self}, place::output));
    }
    if (mine.last - mine.first < 2) return;
    const interval lower = mine.lower();
    const interval upper = mine.upper();
    const interval given = mine.leader == lower.leader ? upper : lower;
    const block_set blocks{given.first, given.last - given.first};
    if (leads) {
      emit(send_step(given.leader, blocks, held));
    } else if (self == given.leader) {
      emit(receive_step(mine.leader, blocks, blocks.count == 1 ? place::output : place::scratch));
    }
  }

 private:
  /// The ranks first to last - 1 and the one that collects for them.
  struct interval {
    int first, last, leader;

    constexpr int middle() const { return first + (last - first + 1) / 2; }
    constexpr interval lower() const { return {first, middle(), leader < middle() ? leader : first}; }
    constexpr interval upper() const { return {middle(), last, leader < middle() ? middle() : leader}; }
    constexpr interval half_of(int rank) const { return rank < middle() ? lower() : upper(); }
  };

  /// Tells whether `self` has received anything before `round`: whether the interval below it has more than
  /// itself.
  static constexpr bool holds_sum(const Reduce& c, const group& g, int self, int round) {
    interval mine{0, g.size(), c.root};
    for (int depth = rounds(c, g) - 1; depth >= round; --depth) mine = mine.half_of(self);
    return mine.last - mine.first > 1;
  }
};

}  // namespace hccl::inline v0
