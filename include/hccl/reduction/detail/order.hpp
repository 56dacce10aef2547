// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order that Min, Max and their kin share: IEEE 754-2019 with -0 < +0, free of branches so that loops
// vectorise.

#include <hccl/core/detail/small_float.hpp>

#include <concepts>
#include <cstdint>
#include <limits>

namespace hccl::inline v0::detail {

template <class T>
concept ordered = requires(const T& a, const T& b) {
  { a < b } -> std::convertible_to<bool>;
};

template <class T>
constexpr bool is_nan(const T& x) {
  if constexpr (is_small_float<T>) {
    return (x.bits() & 0x7fff) > std::numeric_limits<T>::infinity().bits();
  } else if constexpr (std::floating_point<T>) {
    return x != x;
  } else {
    return false;
  }
}

/// Tells the sign by a comparison of floating-point numbers, which every vector unit has for double too.
template <std::floating_point T>
constexpr bool is_negative(T x) {
  if constexpr (std::same_as<T, float>) {
    return __builtin_copysignf(1.0f, x) < 0;
  } else if constexpr (std::same_as<T, double>) {
    return __builtin_copysign(1.0, x) < 0;
  } else {
    return __builtin_copysignl(1.0L, x) < 0;
  }
}

/// Maps a 16-bit float to an integer of the same order (sign and magnitude -> two's complement, -0 below +0).
template <is_small_float T>
constexpr std::int16_t order_key(T x) {
  const auto bits = static_cast<std::int16_t>(x.bits());
  return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7fff));
}

/// Tells whether a < b, with -0 < +0. Says anything of NaN, and of equal numbers that have the same bits.
template <class T>
constexpr bool precedes(const T& a, const T& b) {
  if constexpr (is_small_float<T>) {
    return order_key(a) < order_key(b);
  } else if constexpr (std::floating_point<T>) {
    const bool a_is_negative = is_negative(a);
    return (a < b) | ((a == b) & a_is_negative);
  } else {
    return a < b;
  }
}

/// Chooses b if it is better, else a; but NaN wins from either side.
template <class T>
constexpr T choose(const T& a, const T& b, bool b_is_better) {
  const bool a_is_nan = is_nan(a);
  const bool b_is_nan = is_nan(b);
  return (a_is_nan | (!b_is_nan & !b_is_better)) ? a : b;
}

/// Chooses b if it is better, else a; but a number wins over NaN.
template <class T>
constexpr T choose_number(const T& a, const T& b, bool b_is_better) {
  const bool a_is_nan = is_nan(a);
  const bool b_is_nan = is_nan(b);
  return (b_is_nan | (!a_is_nan & !b_is_better)) ? a : b;
}

}  // namespace hccl::inline v0::detail
