// SPDX-License-Identifier: Apache-2.0
#pragma once

// BitAnd, BitOr and BitXor.

#include <concepts>
#include <cstddef>
#include <string_view>

namespace hccl::inline v0 {

namespace detail {

template <class T>
concept bits = std::integral<T> || std::same_as<T, std::byte>;

}  // namespace detail

/// Combines the bits of integers, bool or std::byte by "and".
struct BitAnd {
  static constexpr std::string_view name = "BitAnd";

  template <detail::bits T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

/// Combines the bits of integers, bool or std::byte by "or".
struct BitOr {
  static constexpr std::string_view name = "BitOr";

  template <detail::bits T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

/// Combines the bits of integers, bool or std::byte by "exclusive or".
struct BitXor {
  static constexpr std::string_view name = "BitXor";

  template <detail::bits T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

}  // namespace hccl::inline v0
