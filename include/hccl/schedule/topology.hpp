// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which ranks share a host, and which hosts share a pod.

#include <hccl/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// A hierarchy of ranks: hosts are runs of consecutive ranks, pods runs of consecutive hosts, and so on. The
/// runs of a level may differ in length.
class topology {
 public:
  /// The number of members of every run, level by level: `{{3, 1}}` are two hosts of 3 ranks and 1,
  /// `{{5, 2, 1}, {2, 1}}` are three hosts, the first two of which form a pod. No level is a flat group. Throws
  /// `invalid_argument` for a run of no members, and if a level does not account for all runs of the one below.
  constexpr explicit topology(std::vector<std::vector<int>> levels = {}) : bounds_(std::move(levels)) {
    for (std::size_t level = 0; level < bounds_.size(); ++level) {
      sizes_.push_back(distinct(bounds_[level]));
      int sum = 0;
      for (int& size : bounds_[level]) {
        if (size < 1)
          throw error(errc::invalid_argument, "topology: a run of no members; expected at least 1");
        sum += std::exchange(size, sum);
      }
      if (level > 0 && sum != static_cast<int>(bounds_[level - 1].size()) - 1) {
        throw error(errc::invalid_argument,
                    "topology: a level has another number of members than the level below has runs");
      }
      bounds_[level].push_back(sum);
    }
  }

  /// The number of ranks; 0 if nothing is known.
  constexpr int size() const { return bounds_.empty() ? 0 : bounds_.front().back(); }

  /// Of each level where its runs begin, and behind these the number of all members.
  constexpr std::span<const std::vector<int>> bounds() const { return bounds_; }

  /// Of each level the numbers of members that its runs have, each once, in ascending order.
  constexpr std::span<const std::vector<int>> sizes() const { return sizes_; }

 private:
  static constexpr std::vector<int> distinct(std::vector<int> values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  std::vector<std::vector<int>> bounds_, sizes_;
};

}  // namespace hccl::inline v0
