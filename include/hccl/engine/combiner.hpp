// SPDX-License-Identifier: Apache-2.0
#pragma once

// A reduction as the engine sees it: the functor and its element behind two function pointers.

#include <hccl/memory/device_reduction.hpp>
#include <hccl/reduction/apply.hpp>
#include <hccl/schedule/step.hpp>

#include <cstddef>

namespace hccl::inline v0::detail {

/// A reduction over elements of one type with both types erased: one call per chunk, the loop behind it is
/// compiled for them.
class combiner {
 public:
  combiner() = default;

  template <class T, class Op>
  static combiner of(const Op& op) {
    combiner c;
    c.op_ = &op;
    static constexpr device_reduction known = device_reduction_of<Op, T>();
    c.on_device_ = &known;
    c.stored_first_ = &call<operand_order::stored_first, T, Op>;
    c.arriving_first_ = &call<operand_order::arriving_first, T, Op>;
    return c;
  }

  /// Combines `count` elements that arrive with those in `from` into `to`, in the operand order of `what`.
  void operator()(action what, std::byte* to, const std::byte* from, const std::byte* arriving,
                  std::size_t count) const {
    (what == action::reduce ? stored_first_ : arriving_first_)(op_, to, from, arriving, count);
  }

  /// What a device may do in its place.
  const device_reduction& on_device() const { return *on_device_; }

 private:
  using function = void (*)(const void*, std::byte*, const std::byte*, const std::byte*, std::size_t);

  template <operand_order Order, class T, class Op>
  static void call(const void* op, std::byte* to, const std::byte* from, const std::byte* arriving,
                   std::size_t count) {
    apply<Order>(*static_cast<const Op*>(op), reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from),
                 arriving, count);
  }

  const void* op_ = nullptr;
  const device_reduction* on_device_ = nullptr;
  function stored_first_ = nullptr;
  function arriving_first_ = nullptr;
};

}  // namespace hccl::inline v0::detail
