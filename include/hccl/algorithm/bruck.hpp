// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bruck: what is held doubles in every round.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <bit>
#include <string_view>

namespace hccl::inline v0 {

/// Bruck's algorithms for allgather and all-to-all, for any number of ranks.
///
/// Allgather: in round k, rank r sends the blocks from r on that it has, at most 2^k, to r - 2^k and gets as many
/// from r + 2^k. ceil(log2 p) rounds, (p-1)/p of the vector.
///
/// All-to-all: a block that has d ranks to go hops by 2^k in round k for each bit k of d. ceil(log2 p) messages per
/// rank with at most half of the buffer each, and local copies before, between and behind them. For small blocks.
///
/// Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, "Efficient algorithms for all-to-all
/// communications in multiport message-passing systems", IEEE TPDS 1997.
struct Bruck {
  static constexpr std::string_view name = "bruck";

  static constexpr int rounds(const AllGather&, const group& g) { return bits(g); }

  static constexpr void steps(const AllGather&, const group& g, int self, int round, auto&& emit) {
    const int distance = 1 << round;
    const int count = std::min(distance, g.size() - distance);
    emit(send_step(g.wrap(self - distance), {self, count}, round == 0 ? place::input : place::output));
    emit(receive_step(g.wrap(self + distance), {g.wrap(self + distance), count}, place::output));
    if (round == 0) {
      emit(send_step(self, {self}, place::input));
      emit(receive_step(self, {self}, place::output));
    }
  }

  static constexpr int rounds(const AllToAll&, const group& g) { return 2 * bits(g) + 2; }

  static constexpr void steps(const AllToAll& c, const group& g, int self, int round, auto&& emit) {
    const int n = g.size();
    const auto copy = [&](place from, block_set out, place to, block_set in) {
      emit(send_step(self, out, from));
      emit(receive_step(self, in, to));
    };
    if (round == 0) return copy(place::input, {self, n}, place::scratch, {0, n});  // by the way to go
    if (round == rounds(c, g) - 1) {  // what had d ranks to go has come from d ranks below
      return copy(place::scratch, {0, n}, place::output, {self, n, -1});
    }
    const int distance = 1 << ((round - 1) / 2);
    const int rest = n % (2 * distance);
    const block_set hopping{distance, n / (2 * distance) * distance + std::max(0, rest - distance),
                            2 * distance, distance};
    if (round % 2 == 0) return copy(place::output, hopping, place::scratch, hopping);
    emit(send_step(g.wrap(self + distance), hopping, place::scratch));
    emit(receive_step(g.wrap(self - distance), hopping, place::output));
  }

 private:
  static constexpr int bits(const group& g) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(g.size() - 1)));
  }
};

}  // namespace hccl::inline v0
