// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a reduction is: the concept Reduction, the facts the library asks of a functor, and how a lifted one
// is used.

#include <hccl/core/element.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

/// Tells whether Op may be applied to operands in any order, op(a, b) as well as op(b, a).
///
/// As in MPI, a functor is taken to commute unless it says otherwise, by a member `static constexpr bool
/// is_commutative = false;` or by the specialisation `template <> inline constexpr bool
/// hccl::commutative<MyOp> = false;`. An operation that does not commute is applied in rank order, and
/// algorithms that reorder refuse it at compile time.
template <class Op>
inline constexpr bool commutative = [] {
  if constexpr (requires { Op::is_commutative; }) {
    return static_cast<bool>(Op::is_commutative);
  } else {
    return true;
  }
}();

namespace detail {

template <class Op, class T>
struct accumulator_of {
  using type = T;
};

template <class Op, class T>
  requires requires { typename Op::template accumulator<T>; }
struct accumulator_of<Op, T> {
  using type = typename Op::template accumulator<T>;
};

template <class Op, class T>
concept has_prepare = requires(const Op& op, T x) { op.prepare(x, 1); };

template <class Op, class T, class A>
concept has_typed_finish = requires(const Op& op, A a) { op.template finish<T>(a, 1); };

template <class Op, class A>
concept has_finish = requires(const Op& op, A a) { op.finish(a, 1); };

template <class From, class To>
concept castable_to = requires(From x) { static_cast<To>(x); };

template <class Op, class A>
concept combines = requires(const Op& op, A a, A b) {
  { op(a, b) } -> castable_to<A>;
};

}  // namespace detail

/// The type in which partial results of Op over elements T travel and are combined: `Op::accumulator<T>`, or
/// T.
template <class Op, class T>
using accumulator_t = typename detail::accumulator_of<Op, T>::type;

/// Tells whether a result of Op over T takes more than combining elements: a travelling type other than T, or
/// work before or after.
///
/// A lifted functor has one or more of
/// - `template <class T> using accumulator`, the type that travels and is combined (else T);
/// - `prepare(T x, int ranks) const -> accumulator`, applied once to each rank's contribution (else a cast);
/// - `finish<T>(accumulator a, int ranks) const -> T`, or finish without <T>, applied once to the result
///   (else a cast).
template <class Op, class T>
inline constexpr bool is_lifted =
    !std::is_same_v<accumulator_t<Op, T>, T> || detail::has_prepare<Op, T> ||
    detail::has_typed_finish<Op, T, accumulator_t<Op, T>> || detail::has_finish<Op, accumulator_t<Op, T>>;

/// Turns one rank's contribution into what travels in a reduction over `ranks` ranks.
template <class T, class Op>
constexpr accumulator_t<Op, T> prepare(const Op& op, const T& x, int ranks) {
  if constexpr (detail::has_prepare<Op, T>) {
    return static_cast<accumulator_t<Op, T>>(op.prepare(x, ranks));
  } else {
    return static_cast<accumulator_t<Op, T>>(x);
  }
}

/// Turns the combined contributions of `ranks` ranks into the result, an element T.
template <class T, class Op>
constexpr T finish(const Op& op, const accumulator_t<Op, T>& a, int ranks) {
  if constexpr (detail::has_typed_finish<Op, T, accumulator_t<Op, T>>) {
    return static_cast<T>(op.template finish<T>(a, ranks));
  } else if constexpr (detail::has_finish<Op, accumulator_t<Op, T>>) {
    return static_cast<T>(op.finish(a, ranks));
  } else {
    return static_cast<T>(a);
  }
}

/// Op goes by the number of ranks that contribute, as a mean does: `Op::counts_ranks`, false if Op does not say.
template <class Op>
inline constexpr bool counts_ranks = [] {
  if constexpr (requires { Op::counts_ranks; }) {
    return static_cast<bool>(Op::counts_ranks);
  } else {
    return false;
  }
}();

/// A functor that reduces elements T: copyable, and callable while const as op(a, b) on what travels
/// (accumulator_t), with a result that converts back. Any lambda `T(T, T)` is one.
///
/// It must be associative up to rounding, free of side effects, and callable from any thread. op(a, b) has
/// the operand of the lower rank on the left when it does not commute.
template <class Op, class T>
concept Reduction = Element<T> && std::copy_constructible<Op> && Element<accumulator_t<Op, T>> &&
                    detail::combines<Op, accumulator_t<Op, T>>;

/// Gives the name of Op in messages and in the agreement of ranks on a call: `Op::name`, or "custom".
template <class Op>
constexpr std::string_view reduction_name() {
  if constexpr (requires { std::string_view{Op::name}; }) {
    return Op::name;
  } else {
    return "custom";
  }
}

/// Fails to compile, with a sentence, unless Op is a Reduction of T. A functor may give its own sentences in
/// `template <class T> static consteval void check_element()`. Authors of a functor may call it beside
/// their type.
template <class Op, class T>
consteval bool check_reduction() {
  static_assert(Element<T>, "hccl: the element must be trivially copyable, and neither const nor a pointer");
  static_assert(std::copy_constructible<Op>, "hccl: the reduction must be copyable");
  if constexpr (requires { Op::template check_element<T>(); }) {
    Op::template check_element<T>();
  } else if constexpr (Element<T>) {
    static_assert(Element<accumulator_t<Op, T>>,
                  "hccl: the accumulator of the reduction must be trivially copyable");
    static_assert(detail::combines<Op, accumulator_t<Op, T>>,
                  "hccl: the reduction must be callable on two elements while const, as T op(T, T) const");
  }
  return true;
}

}  // namespace hccl::inline v0
