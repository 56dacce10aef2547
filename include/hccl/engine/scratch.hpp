// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a communicator keeps for its collectives.

#include <cstddef>
#include <new>

namespace hccl::inline v0::detail {

/// Memory of this process, aligned so that it can hold over-aligned elements.
struct private_memory {
  static constexpr std::size_t alignment = 4096;

  std::byte* allocate(std::size_t bytes) {
    return static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment}));
  }
  void deallocate(std::byte* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t{alignment});
  }
};

/// A block of memory that grows to the largest request and is then reused. Growing loses the contents.
template <class Allocator = private_memory>
class scratch_memory {
 public:
  scratch_memory() = default;
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;
  ~scratch_memory() { release(); }

  /// Makes room for `bytes`. Allocates only when it has less.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    release();
    memory_ = Allocator().allocate(bytes);
    capacity_ = bytes;
  }

  std::byte* data() const { return memory_; }

 private:
  void release() {
    if (memory_ != nullptr) Allocator().deallocate(memory_, capacity_);
    memory_ = nullptr;
    capacity_ = 0;
  }

  std::byte* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace hccl::inline v0::detail
