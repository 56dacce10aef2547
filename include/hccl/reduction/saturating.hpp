// SPDX-License-Identifier: Apache-2.0
#pragma once

// saturating: integer Sum and Product that clamp instead of wrapping.

#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/detail/integer.hpp>

#include <limits>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

namespace detail {

/// Clamps a wider integer to the range of T.
template <number_integral T, class Wide>
constexpr T clamp_to(Wide x) {
  constexpr auto low = static_cast<Wide>(std::numeric_limits<T>::min());
  constexpr auto high = static_cast<Wide>(std::numeric_limits<T>::max());
  const Wide raised = x < low ? low : x;
  return static_cast<T>(raised > high ? high : raised);
}

template <number_integral T>
using wide_product_t =
    std::conditional_t<(sizeof(T) < sizeof(int)), std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                       wide_sum_t<T>>;

}  // namespace detail

/// Clamps the result of each Sum or Product of integers to the range of the type, where the plain functor
/// wraps.
///
/// Clamping is not associative when signs mix, so the result may depend on the algorithm; it is the same on
/// all ranks and in all runs.
template <class Op>
struct saturating;

template <>
struct saturating<Sum> {
  static constexpr std::string_view name = "saturating<Sum>";

  template <detail::number_integral T>
  constexpr T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    constexpr int sign = std::numeric_limits<U>::digits - 1;
    const auto x = static_cast<U>(a);
    const auto y = static_cast<U>(b);
    const auto sum = static_cast<U>(x + y);
    // Masks and shifts instead of comparisons, which SSE2 lacks for 64 bits: all ones if the sum overflowed.
    if constexpr (std::is_signed_v<T>) {
      const auto overflow = static_cast<U>((x ^ sum) & (y ^ sum));
      const auto mask = static_cast<U>(-static_cast<U>(overflow >> sign));
      const auto limit = static_cast<U>(std::numeric_limits<T>::max() + static_cast<U>(x >> sign));
      return static_cast<T>((sum & ~mask) | (limit & mask));
    } else {
      const auto carry = static_cast<U>((x & y) | ((x | y) & ~sum));
      return static_cast<T>(sum | -static_cast<U>(carry >> sign));
    }
  }
};

template <>
struct saturating<Product> {
  static constexpr std::string_view name = "saturating<Product>";

  template <detail::number_integral T>
  constexpr T operator()(T a, T b) const {
    using Wide = detail::wide_product_t<T>;
    return detail::clamp_to<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
};

}  // namespace hccl::inline v0
