// SPDX-License-Identifier: Apache-2.0
#pragma once

// RecursiveHalvingDoubling: exchange half of what is left with a partner, then go back the same way.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <bit>
#include <string_view>

namespace hccl::inline v0 {

/// Recursive halving and doubling, for any number of ranks.
///
/// With p = 2^k + r ranks, the first 2r fold in pairs, so that 2^k take part; the odd one of a pair acts for
/// both.
///
/// Allreduce: in k rounds partners at distance 1, 2, 4, ... exchange halves of what each is still responsible
/// for; k more rounds go back and collect. Large messages stay between near ranks, and rank order is kept. 2k
/// rounds, and 2 more to fold and unfold when r > 0.
///
/// Reduce: the same halving, then the parts are collected along the tree to the root, 2k rounds, 1 more when
/// r > 0 and 1 more when the root does not act. Broadcast is its mirror image.
///
/// Reduce-scatter: the distance halves from 2^(k-1) to 1, so that rank i ends with block i (k rounds, 2 more
/// when r > 0); rank order is not kept. Allgather is its mirror image.
///
/// Source: R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
struct RecursiveHalvingDoubling {
  static constexpr std::string_view name = "recursive_halving_doubling";

  static constexpr bool keeps_order(const AllReduce&) { return true; }
  static constexpr bool keeps_order(const Reduce&) { return true; }

  static constexpr int blocks(const AllReduce&, const group& g) { return fold(g).active; }
  static constexpr int rounds(const AllReduce&, const group& g) {
    return 2 * fold(g).bits + 2 * fold(g).extra_rounds();
  }

  static constexpr void steps(const AllReduce& c, const group& g, int self, int round, auto&& emit) {
    const fold f(g);
    const int k = round - f.extra_rounds();
    if (k < f.bits) return halve(f, self, k, place::output, emit);
    if (round < rounds(c, g) -
                    f.extra_rounds()) {  // double: give what is complete, take what the partner has completed
      if (!f.acts(self)) return;
      const int depth = 2 * f.bits - 1 - k;
      const int partner = f.actor(self) ^ (1 << depth);
      emit(send_step(f.rank(partner), responsibility(f.actor(self), depth + 1, f), place::output));
      emit(receive_step(f.rank(partner), responsibility(partner, depth + 1, f), place::output));
    } else if (f.is_paired(self)) {  // unfold
      const block_set all{0, f.active};
      emit(f.acts(self) ? send_step(f.twin(self), all, place::output)
                        : receive_step(f.twin(self), all, place::output));
    }
  }

  static constexpr int blocks(const Reduce&, const group& g) { return fold(g).active; }
  static constexpr int rounds(const Reduce& c, const group& g) {
    return 2 * fold(g).bits + fold(g).extra_rounds() + (fold(g).acts(c.root) ? 0 : 1);
  }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    const fold f(g);
    const int k = round - f.extra_rounds();
    const place sum = self == c.root ? place::output : place::scratch;
    if (k < f.bits) return halve(f, self, k, sum, emit);
    const int collector = f.actor(c.root);
    if (k < 2 * f.bits) {  // collect: those on the way to the root take, their partners give
      const int depth = 2 * f.bits - 1 - k;
      const int actor = f.actor(self);
      if (!f.acts(self) || (actor ^ collector) >> (depth + 1) != 0) return;
      const int partner = actor ^ (1 << depth);
      if (((actor ^ collector) >> depth & 1) != 0) {
        emit(send_step(f.rank(partner), responsibility(actor, depth + 1, f), sum));
      } else {
        emit(receive_step(f.rank(partner), responsibility(partner, depth + 1, f), sum));
      }
    } else if (f.is_paired(self) && f.actor(self) == collector) {
      const block_set all{0, f.active};
      emit(f.acts(self) ? send_step(c.root, all, sum) : receive_step(f.twin(self), all, sum));
    }
  }

  static constexpr int rounds(const ReduceScatter&, const group& g) {
    return fold(g).bits + 2 * fold(g).extra_rounds();
  }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    const fold f(g);
    const int k = round - f.extra_rounds();
    if (k < 0) return fold_in(f, self, {0, g.size()}, place::scratch, emit);
    if (k == f.bits) {  // unfold
      if (!f.is_paired(self)) return;
      if (!f.acts(self)) return emit(receive_step(f.twin(self), {self}, place::output));
      emit(send_step(f.twin(self), {f.twin(self)}, place::scratch));
      emit(send_step(self, {self}, place::scratch));
      emit(receive_step(self, {self}, place::output));
      return;
    }
    if (!f.acts(self)) return;
    const int actor = f.actor(self);
    const int distance = f.active >> (k + 1);
    const int partner = actor ^ distance;
    const place mine = k == 0 && !f.is_paired(self) ? place::input : place::scratch;
    const place sum = k == f.bits - 1 && !f.is_paired(self) ? place::output : place::scratch;
    emit(send_step(f.rank(partner), f.blocks_of_actors(partner & -distance, distance), mine));
    emit(reduce_step(f.rank(partner), f.blocks_of_actors(actor & -distance, distance), mine, sum));
  }

 private:
  /// How p ranks fold into 2^bits actors.
  struct fold {
    int bits, active, pairs;

    constexpr explicit fold(const group& g)
        : bits(static_cast<int>(std::bit_width(static_cast<unsigned>(g.size()))) - 1),
          active(1 << bits),
          pairs(g.size() - active) {}

    constexpr int extra_rounds() const { return pairs > 0 ? 1 : 0; }  // to fold, and as many to unfold
    constexpr bool is_paired(int rank) const { return rank < 2 * pairs; }
    constexpr bool acts(int rank) const { return !is_paired(rank) || rank % 2 == 1; }
    constexpr int twin(int rank) const { return acts(rank) ? rank - 1 : rank + 1; }
    constexpr int actor(int rank) const { return is_paired(rank) ? rank / 2 : rank - pairs; }
    constexpr int rank(int actor) const { return actor < pairs ? 2 * actor + 1 : actor + pairs; }

    /// The blocks of all ranks for which `count` actors act, `first` and the following.
    constexpr block_set blocks_of_actors(int first, int count) const {
      const auto begin = [this](int a) { return a < pairs ? 2 * a : a + pairs; };
      return {begin(first), begin(first + count) - begin(first)};
    }
  };

  /// Round -1 of the halving: the even ranks of the pairs give all they have to their twins.
  static constexpr void fold_in(const fold& f, int self, block_set all, place sum, auto&& emit) {
    if (!f.is_paired(self)) return;
    emit(f.acts(self) ? reduce_front_step(f.twin(self), all, place::input, sum)
                      : send_step(f.twin(self), all, place::input));
  }

  /// Round k of the halving with partners at distance 2^k: keep one half of the blocks, give the other away.
  static constexpr void halve(const fold& f, int self, int k, place sum, auto&& emit) {
    if (k < 0) return fold_in(f, self, {0, f.active}, sum, emit);
    if (!f.acts(self)) return;
    const int actor = f.actor(self);
    const int partner = actor ^ (1 << k);
    const block_set kept = responsibility(actor, k + 1, f);
    const place mine = k == 0 && !f.is_paired(self) ? place::input : sum;
    emit(send_step(f.rank(partner), responsibility(partner, k + 1, f), mine));
    emit(partner > actor ? reduce_step(f.rank(partner), kept, mine, sum)
                         : reduce_front_step(f.rank(partner), kept, mine, sum));
  }

  /// The blocks that `actor` is responsible for after `depth` halvings of all of them.
  static constexpr block_set responsibility(int actor, int depth, const fold& f) {
    block_set blocks{0, f.active};
    for (int d = 0; d < depth; ++d) {
      blocks.count /= 2;
      if (actor >> d & 1) blocks.first += blocks.count;
    }
    return blocks;
  }
};

}  // namespace hccl::inline v0
