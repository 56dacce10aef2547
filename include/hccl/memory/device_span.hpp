// SPDX-License-Identifier: Apache-2.0
#pragma once

// device_span: elements in memory that the host may not touch.

#include <hccl/memory/device_allocator.hpp>

#include <cstddef>
#include <type_traits>

namespace hccl::inline v0 {

/// Refers to elements side by side in memory of a device, for a collective. It has no iterators: the host reaches the
/// elements by copies only. T may be const. Allocator: whose memory it is.
template <class T, DeviceAllocator Allocator>
class device_span {
 public:
  using element_type = T;
  using memory = Allocator;

  constexpr device_span() = default;

  /// `size` elements from the device address `data` on.
  constexpr device_span(T* data, std::size_t size) : data_(data), size_(size) {}

  /// The same elements, which are not to be changed.
  template <class U>
    requires std::is_same_v<T, const U>
  constexpr device_span(device_span<U, Allocator> other) : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr std::size_t size_bytes() const { return size_ * sizeof(T); }
  constexpr bool empty() const { return size_ == 0; }

  /// `count` elements from element `offset` on, which lie within.
  constexpr device_span subspan(std::size_t offset, std::size_t count) const {
    return device_span(data_ + offset, count);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hccl::inline v0
