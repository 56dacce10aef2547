// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the 16-bit floating-point elements share: arithmetic that computes in float and rounds once per
// operation.

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace hccl::inline v0::detail {

/// Base of a 16-bit floating-point class that converts to float and back; Self offers bits() and from_bits().
/// Comparisons need no text here: they are those of float.
template <class Self>
class small_float {
  friend constexpr Self operator+(Self a, Self b) noexcept { return Self{float{a} + float{b}}; }
  friend constexpr Self operator-(Self a, Self b) noexcept { return Self{float{a} - float{b}}; }
  friend constexpr Self operator*(Self a, Self b) noexcept { return Self{float{a} * float{b}}; }
  friend constexpr Self operator/(Self a, Self b) noexcept { return Self{float{a} / float{b}}; }

  friend constexpr Self& operator+=(Self& a, float b) noexcept { return a = Self{float{a} + b}; }
  friend constexpr Self& operator-=(Self& a, float b) noexcept { return a = Self{float{a} - b}; }
  friend constexpr Self& operator*=(Self& a, float b) noexcept { return a = Self{float{a} * b}; }
  friend constexpr Self& operator/=(Self& a, float b) noexcept { return a = Self{float{a} / b}; }

  friend constexpr Self operator+(Self a) noexcept { return a; }
  friend constexpr Self operator-(Self a) noexcept {
    return Self::from_bits(static_cast<std::uint16_t>(a.bits() ^ 0x8000u));
  }
};

template <class T>
concept is_small_float = std::derived_from<T, small_float<std::remove_cv_t<T>>>;

}  // namespace hccl::inline v0::detail
