// SPDX-License-Identifier: Apache-2.0
#pragma once

// Complex numbers by their shape, so that no core header includes <complex>.

#include <concepts>
#include <type_traits>

namespace hccl::inline v0::detail {

template <class T>
concept complex_like = requires(const T& z) {
  requires std::floating_point<typename T::value_type>;
  { z.real() } -> std::same_as<typename T::value_type>;
  { z.imag() } -> std::same_as<typename T::value_type>;
  T{z.real(), z.imag()};
};

template <class T>
struct real_part {
  using type = T;
};

template <complex_like T>
struct real_part<T> {
  using type = typename T::value_type;
};

template <class T>
using real_part_t = typename real_part<T>::type;

/// Applies f to a real number, or to both parts of a complex one.
template <class T, class F>
constexpr T for_each_part(const T& x, const F& f) {
  if constexpr (complex_like<T>) {
    return T{f(x.real()), f(x.imag())};
  } else {
    return f(x);
  }
}

}  // namespace hccl::inline v0::detail
