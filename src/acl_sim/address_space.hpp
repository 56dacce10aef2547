// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses that nothing else in the process has, and that may not be touched. Linux.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace acl_sim {

/// Hands out ranges of addresses and takes them back. They stay the process's until its end, so that one that was given
/// back is told from all other memory; it is handed out again. Not for several threads.
class address_space {
 public:
  /// `size` is in whole pages. Returns null if the system has none.
  std::byte* take(std::size_t size) {
    auto gap = std::ranges::find_if(gaps_, [&](const auto& g) { return g.second >= size; });
    if (gap == gaps_.end()) gap = grow(size);
    if (gap == gaps_.end()) return nullptr;
    const auto [begin, room] = *gap;
    gaps_.erase(gap);
    if (room > size) gaps_.emplace(begin + size, room - size);
    return begin;
  }

  void give_back(std::byte* begin, std::size_t size) {
    const auto next = gaps_.lower_bound(begin);
    if (next != gaps_.end() && begin + size == next->first) {
      size += next->second;
      gaps_.erase(next);
    }
    const auto after = gaps_.lower_bound(begin);
    if (after != gaps_.begin()) {
      if (const auto before = std::prev(after); before->first + before->second == begin) {
        before->second += size;
        return;
      }
    }
    gaps_.emplace(begin, size);
  }

  /// Whether an address is one of those that nobody has taken.
  bool has(const std::byte* address) const {
    const auto next = gaps_.upper_bound(const_cast<std::byte*>(address));
    if (next == gaps_.begin()) return false;
    const auto& [begin, size] = *std::prev(next);
    return address < begin + size;
  }

 private:
  using gap_map = std::map<std::byte*, std::size_t>;

  gap_map::iterator grow(std::size_t size) {
    for (const std::size_t wanted : {std::max(size, usual_growth), size}) {
      void* const made =
          ::mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (made != MAP_FAILED) return gaps_.emplace(static_cast<std::byte*>(made), wanted).first;
    }
    return gaps_.end();
  }

  static constexpr std::size_t usual_growth = std::size_t{256} << 20;

  gap_map gaps_;  // by their first address
};

}  // namespace acl_sim
