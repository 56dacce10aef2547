// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which reductions a device may do itself.

#include <hccl/core/element.hpp>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/min_max.hpp>

#include <concepts>
#include <string_view>

namespace hccl::inline v0 {

/// A reduction that is built into devices: Sum, and Max and Min, of numbers.
struct device_reduction {
  enum class operation { none, sum, max, min };

  operation what = operation::none;
  std::string_view element{};  ///< `element_name` of the numbers
};

/// What a device may do in place of Op on elements T: nothing if Op is a functor of the user, or if the device may differ
/// in a result. What its Max and Min make of a NaN is not said anywhere, so they are for integers.
template <class Op, class T>
constexpr device_reduction device_reduction_of() {
  using enum device_reduction::operation;
  constexpr bool is_integer = std::integral<T> && !std::same_as<T, bool>;
  constexpr bool is_number =
      is_integer || std::floating_point<T> || std::same_as<T, float16> || std::same_as<T, bfloat16>;
  if constexpr (std::same_as<Op, Sum> && is_number) return {sum, element_name<T>()};
  if constexpr (std::same_as<Op, Max> && is_integer) return {max, element_name<T>()};
  if constexpr (std::same_as<Op, Min> && is_integer) return {min, element_name<T>()};
  return {};
}

}  // namespace hccl::inline v0
