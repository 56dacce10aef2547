// SPDX-License-Identifier: Apache-2.0
#pragma once

// accumulate_in: a reduction whose partial results travel in another type.

#include <hccl/core/element.hpp>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/concept.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// Reduces by Op in type A: each contribution is converted to A, partial results travel and combine as A, and
/// the result is rounded to the element type once. `accumulate_in<float, Sum>` is for float16 and bfloat16,
/// at twice their traffic.
///
/// A: an Element that the element type casts to and from. Op: a Reduction of A, which may be lifted itself.
template <Element A, class Op = Sum>
struct accumulate_in {
  static constexpr std::string_view name = "accumulate_in";
  static constexpr bool is_commutative = commutative<Op>;
  static constexpr bool counts_ranks = hccl::counts_ranks<Op>;

  template <class T>
  using accumulator = accumulator_t<Op, A>;

  [[no_unique_address]] Op op = {};

  constexpr accumulator_t<Op, A> operator()(accumulator_t<Op, A> a, accumulator_t<Op, A> b) const
    requires Reduction<Op, A>
  {
    return static_cast<accumulator_t<Op, A>>(op(a, b));
  }

  template <class T>
  constexpr accumulator_t<Op, A> prepare(T x, int ranks) const {
    return hccl::prepare(op, static_cast<A>(x), ranks);
  }

  template <class T>
  constexpr T finish(accumulator_t<Op, A> a, int ranks) const {
    return static_cast<T>(hccl::finish<A>(op, a, ranks));
  }
};

}  // namespace hccl::inline v0
