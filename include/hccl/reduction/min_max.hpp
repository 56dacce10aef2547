// SPDX-License-Identifier: Apache-2.0
#pragma once

// Min, Max, and MinNumber, MaxNumber, which ignore NaN.

#include <hccl/reduction/detail/order.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// Gives the smaller: IEEE 754-2019 minimum. NaN from any rank is the result, and -0 < +0. Any type with
/// operator<.
struct Min {
  static constexpr std::string_view name = "Min";

  template <detail::ordered T>
  constexpr T operator()(T a, T b) const {
    return detail::choose(a, b, detail::precedes(b, a));
  }
};

/// Gives the larger: IEEE 754-2019 maximum. NaN from any rank is the result, and -0 < +0. Any type with
/// operator<.
struct Max {
  static constexpr std::string_view name = "Max";

  template <detail::ordered T>
  constexpr T operator()(T a, T b) const {
    return detail::choose(a, b, detail::precedes(a, b));
  }
};

/// Gives the smaller number: IEEE 754-2019 minimumNumber. NaN only where every rank has NaN, and -0 < +0.
struct MinNumber {
  static constexpr std::string_view name = "MinNumber";

  template <detail::ordered T>
  constexpr T operator()(T a, T b) const {
    return detail::choose_number(a, b, detail::precedes(b, a));
  }
};

/// Gives the larger number: IEEE 754-2019 maximumNumber. NaN only where every rank has NaN, and -0 < +0.
struct MaxNumber {
  static constexpr std::string_view name = "MaxNumber";

  template <detail::ordered T>
  constexpr T operator()(T a, T b) const {
    return detail::choose_number(a, b, detail::precedes(a, b));
  }
};

}  // namespace hccl::inline v0
