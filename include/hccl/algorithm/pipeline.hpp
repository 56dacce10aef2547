// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pipeline: a chain of ranks along which segments travel one behind the other.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <string_view>

namespace hccl::inline v0 {

/// The segmented chain.
///
/// Reduce: segments travel from both ends of the chain of ranks to the root, collecting contributions, so rank
/// order is kept. max(root, p-1-root) + S - 1 rounds of n/S for S segments, the whole vector sent per rank;
/// broadcast is its mirror image, allreduce both. Scan: from rank 0 to the last, p + S - 2 rounds, the whole
/// vector sent per rank. Exclusive scan: in one round inputs are shifted by one rank, then the same from rank 1 on; as
/// many rounds, the vector sent twice. For large vectors on few ranks.
struct Pipeline {
  static constexpr std::string_view name = "pipeline";

  static constexpr int segments = 16;

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int blocks(const Reduce&, const group&) { return segments; }

  static constexpr int rounds(const Reduce& c, const group& g) {
    return std::max(c.root, g.size() - 1 - c.root) + segments - 1;
  }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    const int last = g.size() - 1;
    // A segment leaves rank r below the root in round r + segment, and one above it in round last - r + segment.
    const int from_below = round - (self - 1);
    const int from_above = round - (last - self - 1);
    if (self == c.root) {
      const bool above_is_ahead = from_below < from_above;
      if (0 < self && is_segment(from_below)) {
        const bool is_first = self == last || !above_is_ahead;
        emit(reduce_front_step(self - 1, {from_below}, is_first ? place::input : place::output,
                               place::output));
      }
      if (self < last && is_segment(from_above)) {
        const bool is_first = self == 0 || above_is_ahead;
        emit(reduce_step(self + 1, {from_above}, is_first ? place::input : place::output, place::output));
      }
      return;
    }
    const bool is_below = self < c.root;
    const bool is_end = self == (is_below ? 0 : last);
    const int coming = is_below ? from_below : from_above;
    const int leaving = coming - 1;
    if (is_segment(leaving)) {
      emit(send_step(is_below ? self + 1 : self - 1, {leaving}, is_end ? place::input : place::scratch));
    }
    if (!is_end && is_segment(coming)) {
      emit(is_below ? reduce_front_step(self - 1, {coming}, place::input, place::scratch)
                    : reduce_step(self + 1, {coming}, place::input, place::scratch));
    }
  }

  static constexpr int blocks(const Scan&, const group&) { return segments; }
  static constexpr int rounds(const Scan&, const group& g) { return g.size() - 1 + segments - 1; }

  static constexpr void steps(const Scan&, const group& g, int self, int round, auto&& emit) {
    scan(g.size(), 0, self, round, place::input, emit);
  }

  static constexpr int blocks(const ExScan&, const group&) { return segments; }
  static constexpr int rounds(const ExScan&, const group& g) { return g.size() - 1 + segments - 1; }

  static constexpr void steps(const ExScan&, const group& g, int self, int round, auto&& emit) {
    if (round > 0) return scan(g.size(), 1, self, round - 1, place::scratch, emit);
    if (self + 1 < g.size()) emit(send_step(self + 1, {0, segments}, place::input));
    if (self > 0) emit(receive_step(self - 1, {0, segments}, place::scratch));
  }

 private:
  static constexpr bool is_segment(int index) { return 0 <= index && index < segments; }

  /// The scan from rank `first` to the last, of what each has in `value`.
  static constexpr void scan(int ranks, int first, int self, int round, place value, auto&& emit) {
    const int position = self - first;
    if (position < 0) return;
    const int leaving = round - position;
    const int coming = leaving + 1;
    if (self + 1 < ranks && is_segment(leaving)) {
      emit(send_step(self + 1, {leaving}, position == 0 ? value : place::output));
    }
    if (position > 0 && is_segment(coming)) {
      emit(reduce_front_step(self - 1, {coming}, value, place::output));
    }
    if (position == 0 && round == 0) {
      emit(send_step(self, {0, segments}, value));
      emit(receive_step(self, {0, segments}, place::output));
    }
  }
};

}  // namespace hccl::inline v0
