// SPDX-License-Identifier: Apache-2.0
#pragma once

// Average: the mean over the ranks.

#include <hccl/core/element.hpp>
#include <hccl/reduction/detail/complex.hpp>
#include <hccl/reduction/detail/integer.hpp>

#include <bit>
#include <concepts>
#include <limits>
#include <string_view>

namespace hccl::inline v0 {

namespace detail {

template <class T>
struct mean_sum {};

template <number_integral T>
struct mean_sum<T> {
  using type = wide_sum_t<T>;
};

template <class T>
  requires std::floating_point<T> || complex_like<T>
struct mean_sum<T> {
  using type = T;
};

template <is_small_float T>
struct mean_sum<T> {
  using type = float;
};

template <class A>
concept is_mean_sum = number_integral<A> || wide_integral<A> || std::floating_point<A> || complex_like<A>;

/// The power of two by which contributions are scaled so that their sum cannot overflow, rounding errors
/// included.
template <class Real>
constexpr Real headroom(int ranks) {
  return ranks == 1 ? Real{1} : Real{0.5} / static_cast<Real>(std::bit_ceil(static_cast<unsigned>(ranks)));
}

/// Undoes the scaling and divides. A sum that was rounded up does not turn a mean near the end of the range
/// infinite.
template <class Real>
constexpr Real mean_of_scaled(Real sum, int ranks) {
  constexpr Real largest = std::numeric_limits<Real>::max();
  const Real mean = sum / (static_cast<Real>(ranks) * headroom<Real>(ranks));
  if (mean > largest && sum <= largest) {
    return largest;
  }
  return mean < -largest && sum >= -largest ? -largest : mean;
}

}  // namespace detail

/// Averages over the ranks and never overflows: a mean that is representable is found. Lifted.
///
/// Integers add up in a wider type, and the mean rounds toward zero. Floating-point numbers, and both parts
/// of complex ones, are first scaled by a power of two (exact but for the last bits of subnormals); float16
/// and bfloat16 travel as float and are rounded once. There is no Average of bool.
struct Average {
  static constexpr std::string_view name = "Average";
  static constexpr bool counts_ranks = true;

  template <class T>
  using accumulator = typename detail::mean_sum<T>::type;

  template <detail::is_mean_sum A>
  constexpr A operator()(A a, A b) const {
    return static_cast<A>(a + b);
  }

  template <class T>
  constexpr accumulator<T> prepare(T x, int ranks) const {
    using A = accumulator<T>;
    if constexpr (detail::number_integral<T>) {
      return x;
    } else {
      using Real = detail::real_part_t<A>;
      return detail::for_each_part(static_cast<A>(x),
                                   [=](Real part) { return part * detail::headroom<Real>(ranks); });
    }
  }

  template <class T>
  constexpr T finish(accumulator<T> sum, int ranks) const {
    using A = accumulator<T>;
    if constexpr (detail::number_integral<T>) {
      return static_cast<T>(sum / static_cast<A>(ranks));
    } else {
      using Real = detail::real_part_t<A>;
      return static_cast<T>(
          detail::for_each_part(sum, [=](Real part) { return detail::mean_of_scaled(part, ranks); }));
    }
  }

  template <class T>
  static consteval void check_element() {
    static_assert(!std::same_as<T, bool>,
                  "hccl: there is no Average of bool; convert the elements to numbers first");
    static_assert(
        std::same_as<T, bool> || requires { typename accumulator<T>; },
        "hccl: Average takes integers, floating-point and complex numbers");
  }
};

}  // namespace hccl::inline v0
