// SPDX-License-Identifier: Apache-2.0
#pragma once

// A growing array for constant expressions.

#include <cstddef>

namespace hccl::inline v0::detail {

/// A sequence that grows. Constant evaluation takes ten times as long for std::vector.
template <class T>
class sequence {
 public:
  constexpr explicit sequence(int size = 0)
      : size_(size), capacity_(size), items_(new T[capacity_of(size)]{}) {}
  constexpr ~sequence() { delete[] items_; }
  sequence(const sequence&) = delete;
  sequence& operator=(const sequence&) = delete;

  constexpr int size() const { return size_; }
  constexpr T& operator[](int index) { return items_[index]; }
  constexpr const T& operator[](int index) const { return items_[index]; }
  constexpr T* begin() { return items_; }
  constexpr T* end() { return items_ + size_; }
  constexpr void clear() { size_ = 0; }

  constexpr void push(const T& item) {
    if (size_ == capacity_) grow();
    items_[size_++] = item;
  }

 private:
  static constexpr std::size_t capacity_of(int size) { return static_cast<std::size_t>(size); }

  constexpr void grow() {
    capacity_ = 2 * capacity_ + 32;
    T* const larger = new T[capacity_of(capacity_)]{};
    for (int i = 0; i < size_; ++i) larger[i] = items_[i];
    delete[] items_;
    items_ = larger;
  }

  int size_;
  int capacity_;
  T* items_;
};

}  // namespace hccl::inline v0::detail
