// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sum and Product.

#include <hccl/core/element.hpp>
#include <hccl/reduction/detail/integer.hpp>

#include <concepts>
#include <string_view>

namespace hccl::inline v0 {

/// Adds. Integers of every width wrap (saturating<Sum> clamps); bool is "or"; float16 and bfloat16 add in
/// float and round each time (accumulate_in<float, Sum> rounds once); any other type needs its own operator+.
struct Sum {
  static constexpr std::string_view name = "Sum";

  template <class T>
    requires requires(T a, T b) {
      { a + b } -> std::convertible_to<T>;
    }
  constexpr T operator()(T a, T b) const {
    if constexpr (std::same_as<T, bool>) {
      return a | b;
    } else if constexpr (std::integral<T>) {
      using U = detail::wrapping_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};

/// Multiplies. Integers of every width wrap (saturating<Product> clamps); bool is "and"; float16 and bfloat16
/// multiply in float and round each time; any other type needs its own operator*.
struct Product {
  static constexpr std::string_view name = "Product";

  template <class T>
    requires requires(T a, T b) {
      { a* b } -> std::convertible_to<T>;
    }
  constexpr T operator()(T a, T b) const {
    if constexpr (std::same_as<T, bool>) {
      return a & b;
    } else if constexpr (std::integral<T>) {
      using U = detail::wrapping_t<T>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};

}  // namespace hccl::inline v0
