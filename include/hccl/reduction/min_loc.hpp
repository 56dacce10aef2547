// SPDX-License-Identifier: Apache-2.0
#pragma once

// MinLoc and MaxLoc: the extreme value and where it is.

#include <hccl/reduction/detail/order.hpp>

#include <cstdint>
#include <string_view>

namespace hccl::inline v0 {

/// A value and where it comes from: an index or a rank, as the caller fills it in.
template <class T>
struct value_and_index {
  T value;
  std::int64_t index;

  friend constexpr bool operator==(const value_and_index&, const value_and_index&) = default;
};

template <class T>
value_and_index(T, std::int64_t) -> value_and_index<T>;

namespace detail {

template <class T>
constexpr value_and_index<T> choose_located(const value_and_index<T>& a, const value_and_index<T>& b,
                                            bool a_is_better, bool b_is_better) {
  const bool a_is_nan = is_nan(a.value);
  const bool b_is_nan = is_nan(b.value);
  const bool a_wins = a_is_nan | (!b_is_nan & a_is_better);
  const bool b_wins = b_is_nan | (!a_is_nan & b_is_better);
  if (a_wins == b_wins) {
    return a.index <= b.index ? a : b;
  }
  return a_wins ? a : b;
}

}  // namespace detail

/// Keeps the smaller value with its index. Values are ordered as by Min (NaN wins, -0 < +0); ties take the
/// lower index.
struct MinLoc {
  static constexpr std::string_view name = "MinLoc";

  template <detail::ordered T>
  constexpr value_and_index<T> operator()(value_and_index<T> a, value_and_index<T> b) const {
    return detail::choose_located(a, b, detail::precedes(a.value, b.value),
                                  detail::precedes(b.value, a.value));
  }
};

/// Keeps the larger value with its index. Values are ordered as by Max (NaN wins, -0 < +0); ties take the
/// lower index.
struct MaxLoc {
  static constexpr std::string_view name = "MaxLoc";

  template <detail::ordered T>
  constexpr value_and_index<T> operator()(value_and_index<T> a, value_and_index<T> b) const {
    return detail::choose_located(a, b, detail::precedes(b.value, a.value),
                                  detail::precedes(a.value, b.value));
  }
};

}  // namespace hccl::inline v0
