// SPDX-License-Identifier: Apache-2.0
#pragma once

// PreMulSum: the sum of contributions, each multiplied by a factor first.

#include <hccl/core/element.hpp>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/detail/complex.hpp>
#include <hccl/reduction/detail/integer.hpp>

#include <concepts>
#include <string_view>

namespace hccl::inline v0 {

namespace detail {

template <class T>
concept real_like = std::floating_point<T> || is_small_float<T>;

template <class F, class T>
concept factor_of = (number_integral<F> && number_integral<T>) ||
                    ((real_like<F> || number_integral<F>) && (real_like<T> || complex_like<T>)) ||
                    (complex_like<F> && std::same_as<F, T>);

}  // namespace detail

/// Multiplies each rank's contribution by `factor`, then adds as Sum does. Lifted; the factor counts on one
/// rank too.
///
/// The factor is a number, the same on every rank; for integer elements it must be an integer (the product
/// wraps). It is passed by value: `allreduce(comm, gradients, PreMulSum{1.0f / loss_scale})`.
template <class Factor = float>
struct PreMulSum {
  static constexpr std::string_view name = "PreMulSum";

  Factor factor;

  template <class T>
    requires detail::factor_of<Factor, T>
  constexpr T operator()(T a, T b) const {
    return Sum{}(a, b);
  }

  template <class T>
    requires detail::factor_of<Factor, T>
  constexpr T prepare(T x, int /*ranks*/) const {
    if constexpr (detail::number_integral<T>) {
      return Product{}(x, static_cast<T>(factor));
    } else if constexpr (std::same_as<Factor, T>) {
      return x * factor;
    } else if constexpr (detail::complex_like<T>) {
      using Real = detail::real_part_t<T>;
      return detail::for_each_part(x, [this](Real part) { return part * static_cast<Real>(factor); });
    } else {
      return static_cast<T>(x * factor);
    }
  }

  template <class T>
  static consteval void check_element() {
    static_assert(detail::factor_of<Factor, T>,
                  "hccl: PreMulSum takes numbers, and an integer factor when the elements are integers");
  }
};

template <class Factor>
PreMulSum(Factor) -> PreMulSum<Factor>;

}  // namespace hccl::inline v0
