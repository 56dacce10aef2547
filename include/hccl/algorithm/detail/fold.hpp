// SPDX-License-Identifier: Apache-2.0
#pragma once

// How algorithms for powers of two run on any number of ranks.

#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <bit>

namespace hccl::inline v0::detail {

/// p = 2^bits + pairs ranks as 2^bits actors: the first 2 * pairs ranks work in pairs, for which the odd one
/// acts.
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

/// The round before the first: the even ranks of the pairs give all they have to their twins.
constexpr void fold_in(const fold& f, int self, block_set all, place sum, auto&& emit) {
  if (!f.is_paired(self)) return;
  emit(f.acts(self) ? reduce_front_step(f.twin(self), all, place::input, sum)
                    : send_step(f.twin(self), all, place::input));
}

}  // namespace hccl::inline v0::detail
