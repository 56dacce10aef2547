// SPDX-License-Identifier: Apache-2.0
#pragma once

// Halving and doubling over any pattern of partners.

#include <hccl/algorithm/detail/fold.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

namespace hccl::inline v0::detail {

/// Allreduce by halving what each of 2^bits actors is responsible for and going back the same way, for any number
/// of ranks.
///
/// `Pattern::label(actor, bits)` numbers the actors so that the partner of an actor in round k differs from it in
/// bit k of the label, in none below; `Pattern::partner(actor, k, bits)` is that partner.
template <class Pattern>
struct halving {
  static constexpr int blocks(const AllReduce&, const group& g) { return fold(g).active; }
  static constexpr int rounds(const AllReduce&, const group& g) {
    return 2 * fold(g).bits + 2 * fold(g).extra_rounds();
  }

  static constexpr void steps(const AllReduce& c, const group& g, int self, int round, auto&& emit) {
    const fold f(g);
    const int k = round - f.extra_rounds();
    if (k < f.bits) return halve(f, self, k, place::output, emit);
    if (round <
        rounds(c, g) - f.extra_rounds()) {  // double: give what is complete, take what the partner has
      if (!f.acts(self)) return;
      const int depth = 2 * f.bits - 1 - k;
      const int actor = f.actor(self);
      const int partner = Pattern::partner(actor, depth, f.bits);
      emit(send_step(f.rank(partner), responsibility(actor, depth + 1, f), place::output));
      emit(receive_step(f.rank(partner), responsibility(partner, depth + 1, f), place::output));
    } else if (f.is_paired(self)) {  // unfold
      const block_set all{0, f.active};
      emit(f.acts(self) ? send_step(f.twin(self), all, place::output)
                        : receive_step(f.twin(self), all, place::output));
    }
  }

 protected:
  /// Round k of the halving: keep one half of the blocks, give the other away.
  static constexpr void halve(const fold& f, int self, int k, place sum, auto&& emit) {
    if (k < 0) return fold_in(f, self, {0, f.active}, sum, emit);
    if (!f.acts(self)) return;
    const int actor = f.actor(self);
    const int partner = Pattern::partner(actor, k, f.bits);
    const block_set kept = responsibility(actor, k + 1, f);
    const place mine = k == 0 && !f.is_paired(self) ? place::input : sum;
    emit(send_step(f.rank(partner), responsibility(partner, k + 1, f), mine));
    emit(partner > actor ? reduce_step(f.rank(partner), kept, mine, sum)
                         : reduce_front_step(f.rank(partner), kept, mine, sum));
  }

  /// The blocks that `actor` is responsible for after `depth` halvings of all of them.
  static constexpr block_set responsibility(int actor, int depth, const fold& f) {
    const int label = Pattern::label(actor, f.bits);
    block_set blocks{0, f.active};
    for (int d = 0; d < depth; ++d) {
      blocks.count /= 2;
      if (label >> d & 1) blocks.first += blocks.count;
    }
    return blocks;
  }
};

}  // namespace hccl::inline v0::detail
