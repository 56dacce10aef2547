// SPDX-License-Identifier: Apache-2.0
#pragma once

// RecursiveHalvingDoubling: exchange half of what is left with a partner, then go back the same way.

#include <hccl/algorithm/detail/fold.hpp>
#include <hccl/algorithm/detail/halving.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

namespace detail {

/// Partners differ in one bit of their numbers.
struct hypercube {
  static constexpr int label(int actor, int) { return actor; }
  static constexpr int partner(int actor, int k, int) { return actor ^ (1 << k); }
};

}  // namespace detail

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
struct RecursiveHalvingDoubling : detail::halving<detail::hypercube> {
  static constexpr std::string_view name = "recursive_halving_doubling";

  static constexpr bool keeps_order(const AllReduce&) { return true; }
  static constexpr bool keeps_order(const Reduce&) { return true; }

  using halving::blocks;
  using halving::rounds;
  using halving::steps;

  static constexpr int blocks(const Reduce&, const group& g) { return detail::fold(g).active; }
  static constexpr int rounds(const Reduce& c, const group& g) {
    return 2 * detail::fold(g).bits + detail::fold(g).extra_rounds() + (detail::fold(g).acts(c.root) ? 0 : 1);
  }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    const detail::fold f(g);
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
    return detail::fold(g).bits + 2 * detail::fold(g).extra_rounds();
  }

  static constexpr void steps(const ReduceScatter&, const group& g, int self, int round, auto&& emit) {
    const detail::fold f(g);
    const int k = round - f.extra_rounds();
    if (k < 0) return detail::fold_in(f, self, {0, g.size()}, place::scratch, emit);
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
};

}  // namespace hccl::inline v0
