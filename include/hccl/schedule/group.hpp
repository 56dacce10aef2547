// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ranks that take part in a collective, as an algorithm sees them.

namespace hccl::inline v0 {

/// The ranks 0 to size - 1 of a collective. A value type.
class group {
 public:
  constexpr explicit group(int size) : size_(size) {}

  /// The number of ranks, at least 1.
  constexpr int size() const { return size_; }

  /// Returns `rank` modulo the size, also for a negative one.
  constexpr int wrap(int rank) const { return (rank % size_ + size_) % size_; }

 private:
  int size_;
};

}  // namespace hccl::inline v0
