// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ranks that take part in a collective, as an algorithm sees them.

#include <hccl/schedule/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace hccl::inline v0 {

/// The ranks 0 to size - 1 of a collective, and the hosts that they share. A value type of a few words.
class group {
 public:
  /// Ranks of which nothing more is known: all on one host.
  constexpr explicit group(int size) : size_(size) {}

  /// `size` ranks on the hosts of `hierarchy`, which has as many, or no level. It must outlive the group.
  constexpr group(int size, const topology& hierarchy)
      : size_(size), levels_(hierarchy.bounds()), sizes_(hierarchy.sizes()) {}

  /// The number of ranks, at least 1.
  constexpr int size() const { return size_; }

  /// Returns `rank` modulo the size, also for a negative one.
  constexpr int wrap(int rank) const { return (rank % size_ + size_) % size_; }

  /// The number of hosts.
  constexpr int hosts() const { return levels_.empty() ? 1 : static_cast<int>(levels_.front().size()) - 1; }

  /// The host of a rank. O(log hosts).
  constexpr int host_of(int rank) const {
    if (levels_.empty()) return 0;
    const std::vector<int>& begins = levels_.front();
    return static_cast<int>(std::ranges::upper_bound(begins, rank) - begins.begin()) - 1;
  }

  /// The first rank of a host; of host `hosts()` the number of ranks.
  constexpr int first_of(int host) const {
    if (levels_.empty()) return host == 0 ? 0 : size_;
    return levels_.front()[static_cast<std::size_t>(host)];
  }

  /// The number of ranks of a host.
  constexpr int size_of(int host) const { return first_of(host + 1) - first_of(host); }

  /// The numbers of ranks that hosts have, each once, in ascending order. A view of the group.
  constexpr std::span<const int> host_sizes() const {
    if (levels_.empty()) return {&size_, 1};
    return sizes_.front();
  }

  /// The hosts as a group, which knows the levels above.
  constexpr group host_group() const {
    group upper(hosts());
    if (levels_.size() > 1) {
      upper.levels_ = levels_.subspan(1);
      upper.sizes_ = sizes_.subspan(1);
    }
    return upper;
  }

 private:
  int size_;
  std::span<const std::vector<int>> levels_{}, sizes_{};
};

}  // namespace hccl::inline v0
