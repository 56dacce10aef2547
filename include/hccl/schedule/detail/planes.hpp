// SPDX-License-Identifier: Apache-2.0
#pragma once

// How ranks of hosts of unequal size work together between hosts.

#include <hccl/core/error.hpp>
#include <hccl/schedule/group.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

namespace hccl::inline v0::detail {

/// A product of numbers of blocks. Throws `unsupported` if it is too large to be one, which the sizes of hosts can
/// make it that have few factors in common.
constexpr int product_of_blocks(int a, int b) {
  const std::int64_t product = std::int64_t{a} * b;
  if (product > std::numeric_limits<int>::max())
    throw error(errc::unsupported, "the sizes of hosts differ so that a schedule needs too many blocks");
  return static_cast<int>(product);
}

/// The least common multiple of two numbers of blocks. Throws like `product_of_blocks`.
constexpr int multiple_of_blocks(int a, int b) { return product_of_blocks(a / std::gcd(a, b), b); }

/// Where a rank sits: its host, how many ranks that has, and which of them it is.
struct seat {
  int host, ranks, index;

  constexpr seat(const group& g, int rank)
      : host(g.host_of(rank)), ranks(g.size_of(host)), index(rank - g.first_of(host)) {}
};

/// A line of cells, as many as the least common multiple of the sizes of hosts, that each host divides evenly
/// among its ranks. A plane is a part of the line for which every host has one rank; with hosts of equal size
/// these are the ranks of equal index.
///
/// Source: the logical same-number sets of AHC, the algorithm for asymmetric groups of Huawei's HCCL.
class planes {
 public:
  constexpr explicit planes(const group& g) : group_(&g) {
    for (const int size : g.host_sizes()) length_ = multiple_of_blocks(length_, size);
  }

  /// The number of cells.
  constexpr int length() const { return length_; }

  /// The rank of `host` that has a cell.
  constexpr int member(int host, int cell) const {
    return group_->first_of(host) + cell / (length_ / group_->size_of(host));
  }

  /// Calls `f(begin, end)` with the cells of each plane that a rank belongs to, in order.
  constexpr void for_each_of(const seat& rank, auto&& f) const {
    const int share = length_ / rank.ranks;
    const int last = (rank.index + 1) * share;
    for (int begin = rank.index * share; begin < last;) {
      int end = last;
      for (const int size : group_->host_sizes()) {
        const int section = length_ / size;
        end = std::min(end, (begin / section + 1) * section);
      }
      f(begin, end);
      begin = end;
    }
  }

 private:
  const group* group_;
  int length_ = 1;
};

}  // namespace hccl::inline v0::detail
