// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the blocks of a schedule lie in a buffer.

#include <hccl/core/partition.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace hccl::inline v0 {

/// How a buffer is divided into shares, one for each rank or one for all, in elements.
class division {
 public:
  division() = default;

  /// One share of everything.
  static division whole(std::size_t count) { return equal(1, count); }

  /// Shares of `count` elements each, one behind the other.
  static division equal(int shares, std::size_t count) {
    division d;
    d.shares_ = static_cast<std::size_t>(shares);
    d.count_ = count;
    return d;
  }

  /// Shares of these sizes, which begin at these elements. Both lists stay put.
  static division of(std::span<const std::size_t> counts, std::span<const std::size_t> offsets) {
    division d;
    d.shares_ = counts.size();
    d.counts_ = counts;
    d.offsets_ = offsets;
    return d;
  }

  std::size_t shares() const { return shares_; }

  /// Tells whether all shares are equally large and lie one behind the other.
  bool is_regular() const { return counts_.empty(); }

  extent share(std::size_t index) const {
    if (counts_.empty()) return {index * count_, count_};
    return {offsets_[index], counts_[index]};
  }

  /// The number of elements of a buffer that holds all shares.
  std::size_t size() const {
    if (counts_.empty()) return shares_ * count_;
    std::size_t end = 0;
    for (std::size_t i = 0; i < shares_; ++i) {
      if (counts_[i] > 0) end = std::max(end, offsets_[i] + counts_[i]);
    }
    return end;
  }

 private:
  std::size_t shares_ = 1;
  std::size_t count_ = 0;
  std::span<const std::size_t> counts_, offsets_;
};

/// The position of every block of a schedule, in elements. Each share is cut into equally many balanced blocks,
/// so that it begins and ends with a block.
class layout {
 public:
  layout() = default;
  layout(const division& shares, int blocks)
      : shares_(shares), blocks_(blocks), per_share_(static_cast<std::size_t>(blocks) / shares.shares()) {}

  /// The extent of a block in a buffer that holds all shares.
  extent block(int index) const {
    const auto i = static_cast<std::size_t>(index);
    const extent share = shares_.share(i / per_share_);
    extent e = partition(share.count, per_share_, i % per_share_);
    e.offset += share.offset;
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
      const extent next = block(set.at(k, blocks_));
      if (next.count == 0) continue;
      if (run.count > 0 && next.offset == run.offset + run.count) {
        run.count += next.count;
      } else {
        if (run.count > 0) f(run);
        run = next;
      }
    }
    if (run.count > 0) f(run);
  }

 private:
  division shares_;
  int blocks_ = 1;
  std::size_t per_share_ = 1;
};

}  // namespace hccl::inline v0
