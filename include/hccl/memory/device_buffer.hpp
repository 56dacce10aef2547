// SPDX-License-Identifier: Apache-2.0
#pragma once

// device_buffer: elements in memory of a device, owned.

#include <hccl/core/element.hpp>
#include <hccl/core/error.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_span.hpp>
#include <hccl/memory/host_allocator.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace hccl::inline v0 {

/// A fixed number of elements in memory of an allocator; what collectives take where the host does not reach it.
///
/// Not initialised unless values are given. Movable; the moved-from buffer is empty. Throws what the allocator throws.
/// One thread at a time changes it; memory of a device is allocated, copied and freed by a thread that has set the
/// device.
template <Element T, DeviceAllocator Allocator = HostAllocator>
class device_buffer {
 public:
  using element_type = T;
  using memory = Allocator;
  static_assert(alignof(T) <= Allocator::alignment,
                "hccl: the allocator does not align memory for this element");

  device_buffer() = default;

  /// `size` elements of any value. Throws `out_of_memory` if there can be no buffer of that size.
  explicit device_buffer(std::size_t size) {
    if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T))
      throw error(errc::out_of_memory, detail::concat("device_buffer: ", size, " elements of ", sizeof(T),
                                                      " bytes are more than memory can have"));
    if (size > 0) data_ = static_cast<T*>(Allocator().allocate(size * sizeof(T)));
    size_ = size;
  }

  /// A copy of elements of the host.
  explicit device_buffer(std::span<const T> values) : device_buffer(values.size()) { write(values); }

  device_buffer(device_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  device_buffer& operator=(device_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~device_buffer() {
    if (data_ != nullptr) Allocator().deallocate(data_, size_bytes());
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t size_bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }

  /// `count` elements from element `offset` on, which lie within.
  device_span<T, Allocator> subspan(std::size_t offset, std::size_t count) { return {data_ + offset, count}; }
  device_span<const T, Allocator> subspan(std::size_t offset, std::size_t count) const {
    return {data_ + offset, count};
  }

  /// Copies elements of the host to here, from element 0 on. Throws `invalid_argument` if there are more of them.
  void write(std::span<const T> values) {
    check("write", values.size());
    if (!values.empty())
      Allocator().copy(data_, values.data(), values.size_bytes(),
                       between(memory_kind::host, Allocator::kind));
  }

  /// Copies as many elements as there is room for in `values` from here, from element 0 on. Throws `invalid_argument`
  /// if there are fewer.
  void read(std::span<T> values) const {
    check("read", values.size());
    if (!values.empty())
      Allocator().copy(values.data(), data_, values.size_bytes(),
                       between(Allocator::kind, memory_kind::host));
  }

 private:
  static constexpr copy_direction between(memory_kind from, memory_kind to) {
    if (from == to) return copy_direction::host_to_host;
    return from == memory_kind::host ? copy_direction::host_to_device : copy_direction::device_to_host;
  }

  void check(std::string_view what, std::size_t count) const {
    if (count <= size_) return;
    throw error(errc::invalid_argument,
                detail::concat("device_buffer: ", what, ": values has ", count,
                               " elements, expected at most the ", size_, " of the buffer"));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hccl::inline v0
