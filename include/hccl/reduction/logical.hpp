// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogicalAnd, LogicalOr and LogicalXor.

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

namespace detail {

template <class T>
concept truth_value = std::is_arithmetic_v<T>;

/// Tells whether x differs from zero; a 64-bit integer by its halves, since SSE2 compares no wider ones.
template <truth_value T>
constexpr bool is_true(T x) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(std::uint64_t)) {
    const auto bits = static_cast<std::uint64_t>(x);
    return (static_cast<std::uint32_t>(bits) | static_cast<std::uint32_t>(bits >> 32)) != 0;
  } else {
    return x != T{};
  }
}

}  // namespace detail

/// Gives 1 where both operands differ from zero, else 0.
struct LogicalAnd {
  static constexpr std::string_view name = "LogicalAnd";

  template <detail::truth_value T>
  constexpr T operator()(T a, T b) const {
    const bool a_is_true = detail::is_true(a);
    const bool b_is_true = detail::is_true(b);
    return (a_is_true & b_is_true) ? T{1} : T{0};
  }
};

/// Gives 1 where at least one operand differs from zero, else 0.
struct LogicalOr {
  static constexpr std::string_view name = "LogicalOr";

  template <detail::truth_value T>
  constexpr T operator()(T a, T b) const {
    const bool a_is_true = detail::is_true(a);
    const bool b_is_true = detail::is_true(b);
    return (a_is_true | b_is_true) ? T{1} : T{0};
  }
};

/// Gives 1 where exactly one operand differs from zero, else 0.
struct LogicalXor {
  static constexpr std::string_view name = "LogicalXor";

  template <detail::truth_value T>
  constexpr T operator()(T a, T b) const {
    const bool a_is_true = detail::is_true(a);
    const bool b_is_true = detail::is_true(b);
    return (a_is_true != b_is_true) ? T{1} : T{0};
  }
};

}  // namespace hccl::inline v0
