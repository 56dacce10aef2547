// SPDX-License-Identifier: Apache-2.0
#pragma once

// The binomial trees of all blocks at once, which NonuniformBruck, NHR and ParallelAggregatedTrees walk.

#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <bit>

namespace hccl::inline v0::detail {

/// The reduce-scatter along p binomial trees that differ by rotation: block b is collected at rank b, and the rank
/// at offset d from it sends to the one whose offset lacks the lowest bit of d. `Direction` is that of offsets.
///
/// Offsets are walked in two phases. In the first, one round for each offset d below `stride`, from the last to 1,
/// moves the blocks at the offsets d, d + stride, ...; in the second, bit after bit from `stride` on, all blocks
/// whose offset has that bit lowest. stride is a power of two below p: 1 leaves only the second phase, with the
/// fewest rounds and the largest messages.
template <int Direction>
class offset_trees {
 public:
  constexpr offset_trees(const group& g, int stride) : group_(g), stride_(stride) {}

  /// stride - 1 + log2 of p / stride, rounded up.
  constexpr int rounds() const {
    return stride_ - 1 +
           static_cast<int>(std::bit_width(static_cast<unsigned>((group_.size() - 1) / stride_)));
  }

  constexpr void steps(int self, int round, auto&& emit) const {
    const int bit = round - (stride_ - 1);
    if (bit < 0) {
      const int offset = stride_ - 1 - round;
      hop(self, offset, offset & -offset, stride_, emit);
    } else {
      const int offset = stride_ << bit;
      hop(self, offset, offset, 2 * offset, emit);
    }
  }

 private:
  /// Moves the blocks at the offsets `first`, `first + step`, ... by `distance` towards their ranks.
  constexpr void hop(int self, int first, int distance, int step, auto&& emit) const {
    const int last_offset = first + (group_.size() - 1 - first) / step * step;
    const int count = (last_offset - first) / step + 1;
    const int to = group_.wrap(self - Direction * distance);
    const int from = group_.wrap(self + Direction * distance);
    const auto sets = [&](int begin, int size, auto&& use) {
      if (size > 0) use(begin, block_set{group_.wrap(self - Direction * begin), size, -Direction * step});
    };
    // The tree of the last offset may lack branches that the others have.
    const bool differs =
        (has_received(first, 0) != has_received(last_offset, 0)) ||
        (has_received(first - distance, distance) != has_received(last_offset - distance, distance));
    const int regular = differs ? count - 1 : count;
    for (const bool is_last : {false, true}) {
      const int begin = is_last ? last_offset : first;
      const int size = is_last ? count - regular : regular;
      sets(begin, size, [&](int offset, const block_set& blocks) {
        emit(send_step(to, blocks, has_received(offset, 0) ? place::scratch : place::input));
      });
      sets(begin - distance, size, [&](int offset, const block_set& blocks) {
        const bool is_complete = offset == 0 && 2 * distance >= group_.size();
        emit(reduce_step(from, blocks, has_received(offset, distance) ? place::scratch : place::input,
                         is_complete ? place::output : place::scratch));
      });
    }
  }

  /// Tells whether the rank at `offset` has received something for a block before the contribution from
  /// `distance` further on; 0 means at all.
  constexpr bool has_received(int offset, int distance) const {
    if (distance == 0) return offset % 2 == 0 && offset + 1 < group_.size();
    if (distance >= stride_) return distance > 1;
    const int next = 2 * distance;  // of the first phase, in which the farthest come first
    return next < stride_ && offset % (2 * next) == 0 && offset + next < group_.size();
  }

  group group_;
  int stride_;
};

}  // namespace hccl::inline v0::detail
