// SPDX-License-Identifier: Apache-2.0
#pragma once

// checked: an integer Sum that fails instead of wrapping.

#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/detail/integer.hpp>

#include <stdexcept>
#include <string_view>

namespace hccl::inline v0 {

/// Fails where the Sum of integers does not fit into their type, and the plain functor wraps. Lifted.
///
/// The collective throws `std::overflow_error` with the index of the element on each rank that gets it, or `aborted`
/// with that text, and the communicator is unusable. What counts is the sum over all ranks: contributions add up in a
/// wider type, so the order in which they are combined does not matter.
template <class Op>
struct checked;

template <>
struct checked<Sum> {
  static constexpr std::string_view name = "checked<Sum>";

  template <class T>
  using accumulator = detail::wide_sum_t<T>;

  template <class A>
    requires detail::number_integral<A> || detail::wide_integral<A>
  constexpr A operator()(A a, A b) const {
    return static_cast<A>(a + b);
  }

  template <detail::number_integral T>
  constexpr T finish(accumulator<T> sum, int) const {
    const auto result = static_cast<T>(sum);
    if (result != sum) throw std::overflow_error("the sum does not fit into the type of the elements");
    return result;
  }

  template <class T>
  static consteval void check_element() {
    static_assert(detail::number_integral<T>, "hccl: checked<Sum> takes integers other than bool");
  }
};

}  // namespace hccl::inline v0
