// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a communicator keeps for its collectives.

#include <cstddef>
#include <memory>
#include <new>

namespace hccl::inline v0::detail {

/// A block of memory that grows to the largest request and is then reused. Growing loses the contents.
class scratch {
 public:
  static constexpr std::size_t alignment = 4096;  ///< of the block, so that it can hold over-aligned elements

  /// Makes room for `bytes`. Allocates only when it has less.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    memory_.reset();
    capacity_ = 0;
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment})));
    capacity_ = bytes;
  }

  std::byte* data() const { return memory_.get(); }

 private:
  struct release {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{alignment}); }
  };

  std::unique_ptr<std::byte, release> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace hccl::inline v0::detail
