// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a communicator keeps for its collectives.

#include <cstddef>
#include <memory>
#include <new>

namespace hccl::inline v0::detail {

/// A block of cache-line aligned memory that grows to the largest request and is then reused. Growing loses
/// the contents.
class scratch {
 public:
  /// Makes room for `bytes`. Allocates only when it has less.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    memory_.reset();
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
    capacity_ = bytes;
  }

  std::byte* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};

  struct release {
    void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
  };

  std::unique_ptr<std::byte, release> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace hccl::inline v0::detail
