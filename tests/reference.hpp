// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of collectives share: values that depend on rank and index, what a naive program makes of
// them, and buffers that notice a stray write.

#include <hccl/core/element.hpp>
#include <hccl/core/error.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hccl_test {

/// The matrix (a b; 0 d) of integers modulo 256: a user's element, of an odd size.
struct Matrix {
  std::uint8_t a, b, d;

  friend bool operator==(const Matrix&, const Matrix&) = default;
};

/// The product of matrices, which does not commute.
struct MatrixProduct {
  static constexpr std::string_view name = "MatrixProduct";
  static constexpr bool is_commutative = false;

  constexpr Matrix operator()(const Matrix& x, const Matrix& y) const {
    return {static_cast<std::uint8_t>(x.a * y.a), static_cast<std::uint8_t>(x.a * y.b + x.b * y.d),
            static_cast<std::uint8_t>(x.d * y.d)};
  }
};

/// The reduction that the tests apply to elements T.
template <class T>
using operation_of = std::conditional_t<std::same_as<T, Matrix>, MatrixProduct, hccl::Sum>;

/// Makes 64 bits that look random, the same for the same rank and index.
constexpr std::uint64_t bits_of(int rank, std::size_t index) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank) << 48) + index;
  for (const std::uint64_t factor : {0x9fb21c651e98df25u, 0xd6e8feb86659fd93u}) x = (x ^ (x >> 29)) * factor;
  return x ^ (x >> 32);
}

/// Makes the element at `index` of the input of `rank`. Sums over 16 ranks are exact in floating-point types.
template <class T>
constexpr T value(int rank, std::size_t index) {
  const std::uint64_t bits = bits_of(rank, index);
  if constexpr (std::same_as<T, Matrix>) {  // odd, so that no product loses what was multiplied
    return {static_cast<std::uint8_t>(bits | 1u), static_cast<std::uint8_t>(bits >> 8),
            static_cast<std::uint8_t>(bits >> 16 | 1u)};
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    return {value<float>(rank, 2 * index), value<float>(rank, 2 * index + 1)};
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(bits);
  } else {
    constexpr std::uint64_t range = std::uint64_t{1} << (std::numeric_limits<T>::digits - 4);
    return static_cast<T>(static_cast<double>(bits % range) - static_cast<double>(range / 2));
  }
}

/// Combines two elements without the library.
template <class T>
constexpr T combined(const T& x, const T& y) {
  if constexpr (std::same_as<T, Matrix>) {
    return MatrixProduct{}(x, y);
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    return {x.real() + y.real(), x.imag() + y.imag()};
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  } else {
    return static_cast<T>(static_cast<double>(x) + static_cast<double>(y));
  }
}

/// The inputs of all ranks, and what they are in sum.
template <class T>
struct Reference {
  std::vector<std::vector<T>> inputs;
  std::vector<std::vector<T>> prefixes;  // of each rank: the inputs up to its own, combined in rank order

  Reference(int ranks, std::size_t count) {
    for (int rank = 0; rank < ranks; ++rank) {
      auto& input = inputs.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) input[i] = value<T>(rank, i);
    }
    for (const auto& input : inputs) {
      auto prefix = input;
      if (!prefixes.empty()) {
        const auto& before = prefixes.back();
        std::transform(before.begin(), before.end(), input.begin(), prefix.begin(), combined<T>);
      }
      prefixes.push_back(std::move(prefix));
    }
  }

  /// All inputs combined.
  const std::vector<T>& result() const { return prefixes.back(); }

  std::size_t size() const { return inputs.front().size(); }
};

/// A buffer between guards. Buffer and guards are filled with a canary.
template <class T, class Allocator = std::allocator<std::byte>>
class Guarded {
 public:
  explicit Guarded(std::size_t count = 0) { reset(count); }

  /// Makes it a buffer of `count` elements that nobody has written.
  void reset(std::size_t count) {
    count_ = count;
    bytes_.assign(guard + count * sizeof(T) + guard, canary);
  }

  /// Writes elements from element `offset` on.
  void put(std::size_t offset, std::span<const T> contents) {
    if (!contents.empty()) std::memcpy(&span()[offset], contents.data(), contents.size_bytes());
  }

  std::span<T> span() { return {reinterpret_cast<T*>(bytes_.data() + guard), count_}; }

  bool guards_stand() const {
    const auto intact = [](std::byte b) { return b == canary; };
    return std::all_of(bytes_.begin(), bytes_.begin() + guard, intact) &&
           std::all_of(bytes_.end() - guard, bytes_.end(), intact);
  }

  /// Where a byte differs from `other`, which is as large, guards included: in words, empty if nowhere.
  std::string difference(const Guarded& other) const {
    if (std::memcmp(bytes_.data(), other.bytes_.data(), bytes_.size()) == 0) return {};
    const auto at = std::ranges::mismatch(bytes_, other.bytes_).in1 - bytes_.begin();
    const auto element = (at - guard) / static_cast<std::ptrdiff_t>(sizeof(T));
    if (at < guard) return "a byte before it";
    if (element >= static_cast<std::ptrdiff_t>(count_)) return "a byte behind it";
    return hccl::detail::concat("element ", element);
  }

 private:
  static constexpr std::ptrdiff_t guard = 64;
  static constexpr std::byte canary{0xa5};

  std::vector<std::byte, Allocator> bytes_;
  std::size_t count_ = 0;
};

}  // namespace hccl_test
