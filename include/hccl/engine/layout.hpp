// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the blocks of a schedule lie in a buffer.

#include <hccl/core/partition.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/view.hpp>

#include <cstddef>

namespace hccl::inline v0 {

/// The position of every block of a schedule, in elements.
///
/// `count` elements of a buffer of all blocks are cut into balanced blocks; where blocks belong to ranks,
/// each rank's share of `count / ranks` elements is cut by itself, so that it begins and ends with a block.
class layout {
 public:
  layout() = default;
  layout(const schedule_view& schedule, std::size_t count)
      : blocks_(static_cast<std::size_t>(schedule.blocks())),
        shares_(schedule.owned() ? static_cast<std::size_t>(schedule.ranks().size()) : 1),
        share_(count / shares_) {}

  /// The extent of block `block` in a buffer that holds all blocks.
  extent block(int block) const {
    const std::size_t per_share = blocks_ / shares_;
    const auto index = static_cast<std::size_t>(block);
    extent e = partition(share_, per_share, index % per_share);
    e.offset += index / per_share * share_;
    return e;
  }

  /// The number of elements of all blocks of the set.
  std::size_t size(const block_set& set) const {
    std::size_t sum = 0;
    for_each_extent(set, [&](extent e) { sum += e.count; });
    return sum;
  }

  /// Calls `f` with the extents of the set in order, adjacent blocks joined and empty ones left out.
  template <class F>
  void for_each_extent(const block_set& set, F&& f) const {
    extent run;
    for (int k = 0; k < set.count; ++k) {
      const extent next = block(set.at(k, static_cast<int>(blocks_)));
      if (next.offset == run.offset + run.count) {
        run.count += next.count;
      } else {
        if (run.count > 0) f(run);
        run = next;
      }
    }
    if (run.count > 0) f(run);
  }

 private:
  std::size_t blocks_ = 1;
  std::size_t shares_ = 1;  // ranks that own blocks, or one share of everything
  std::size_t share_ = 0;   // elements of a share
};

}  // namespace hccl::inline v0
