// SPDX-License-Identifier: Apache-2.0
#pragma once

// RecursiveDoubling: partners at distance 1, 2, 4, ... exchange all that they have.

#include <hccl/algorithm/detail/fold.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <bit>
#include <string_view>

namespace hccl::inline v0 {

/// Recursive doubling: the whole vector in every round, as few rounds as can be. For small vectors.
///
/// Allreduce: floor(log2 p) rounds in which partners exchange what they have combined, and one before and one
/// after when p is no power of two (see `detail::fold`). Scan and exclusive scan: in round k, rank r sends what it
/// has to r + 2^k, ceil(log2 p) rounds; exclusive scan shifts inputs by one rank first, ceil(log2(p - 1)) + 1 rounds.
/// Rank order is kept.
///
/// Two places take turns as the one that is sent and the one that is written; when the result ends in the wrong
/// one, it is copied, in a round without messages.
///
/// Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005; the scan is that of W. D. Hillis and G. L. Steele, "Data parallel algorithms", CACM 1986.
struct RecursiveDoubling {
  static constexpr std::string_view name = "recursive_doubling";

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int blocks(const AllReduce&, const group&) { return 1; }

  static constexpr int rounds(const AllReduce&, const group& g) {
    const detail::fold f(g);
    return f.extra_rounds() + f.bits + (f.pairs > 0 || f.bits % 2 == 1 ? 1 : 0);
  }

  static constexpr void steps(const AllReduce&, const group& g, int self, int round, auto&& emit) {
    const detail::fold f(g);
    const int k = round - f.extra_rounds();
    const auto after = [](int exchanges) { return exchanges % 2 == 1 ? place::scratch : place::output; };
    if (k < 0) {
      detail::fold_in(f, self, {}, place::output, emit);
    } else if (k < f.bits) {
      if (!f.acts(self)) return;
      const int actor = f.actor(self);
      const int partner = actor ^ (1 << k);
      const place before = k == 0 && !f.is_paired(self) ? place::input : after(k);
      emit(send_step(f.rank(partner), {}, before));
      emit(partner > actor ? reduce_step(f.rank(partner), {}, before, after(k + 1))
                           : reduce_front_step(f.rank(partner), {}, before, after(k + 1)));
    } else {
      if (f.is_paired(self) && f.acts(self)) emit(send_step(f.twin(self), {}, after(f.bits)));
      if (!f.acts(self)) {
        emit(receive_step(f.twin(self), {}, place::output));
      } else if (f.bits % 2 == 1) {
        move(self, place::scratch, place::output, emit);
      }
    }
  }

  static constexpr int blocks(const Scan&, const group&) { return 1; }
  static constexpr int rounds(const Scan&, const group& g) { return bits(g.size() - 1) + 1; }

  static constexpr void steps(const Scan& c, const group& g, int self, int round, auto&& emit) {
    const auto after = [](int arrivals) {
      if (arrivals == 0) return place::input;
      return arrivals % 2 == 1 ? place::scratch : place::output;
    };
    if (round == rounds(c, g) - 1) return move(self, after(bits(self)), place::output, emit);
    scan(g.size(), 0, self, round, after, emit);
  }

  static constexpr int blocks(const ExScan&, const group&) { return 1; }
  static constexpr int rounds(const ExScan&, const group& g) { return bits(g.size() - 2) + 2; }

  static constexpr void steps(const ExScan& c, const group& g, int self, int round, auto&& emit) {
    const auto after = [](int arrivals) { return arrivals % 2 == 1 ? place::output : place::scratch; };
    if (round == 0) {
      if (self + 1 < g.size()) emit(send_step(self + 1, {}, place::input));
      if (self > 0) emit(receive_step(self - 1, {}, place::scratch));
    } else if (self > 0) {
      if (round == rounds(c, g) - 1) return move(self, after(bits(self - 1)), place::output, emit);
      scan(g.size(), 1, self, round - 1, after, emit);
    }
  }

 private:
  static constexpr int bits(int number) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(number)));
  }

  static constexpr void move(int self, place from, place to, auto&& emit) {
    if (from == to) return;
    emit(send_step(self, {}, from));
    emit(receive_step(self, {}, to));
  }

  /// Round k of the scan from rank `first` to the last; `after(m)` is where a rank has its sum after m arrivals.
  static constexpr void scan(int ranks, int first, int self, int k, auto&& after, auto&& emit) {
    const int position = self - first;
    const int distance = 1 << k;
    const place before = after(std::min(k, bits(position)));
    if (self + distance < ranks) emit(send_step(self + distance, {}, before));
    if (position >= distance) emit(reduce_front_step(self - distance, {}, before, after(k + 1)));
  }
};

}  // namespace hccl::inline v0
