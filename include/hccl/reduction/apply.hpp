// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loop of every reduction: combines stored elements with bytes that have just arrived.

#include <hccl/core/float16.hpp>
#include <hccl/reduction/detail/float16_kernel.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace hccl::inline v0 {

/// Which operand of the reduction stands on the left: the element at hand or the one that arrives.
enum class operand_order : bool { stored_first, arriving_first };

namespace detail {

/// Reads a T from bytes of any alignment.
template <class T>
T load(const std::byte* source) {
  if constexpr (std::default_initializable<T>) {
    T value;
    std::memcpy(&value, source, sizeof(T));
    return value;
  } else {
    struct {
      std::byte bytes[sizeof(T)];
    } raw;
    std::memcpy(&raw, source, sizeof(T));
    return std::bit_cast<T>(raw);
  }
}

template <operand_order Order, class T, class Op>
T combine(const Op& op, const T& stored, const std::byte* arriving) {
  if constexpr (Order == operand_order::stored_first) {
    return static_cast<T>(op(stored, load<T>(arriving)));
  } else {
    return static_cast<T>(op(load<T>(arriving), stored));
  }
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"  // the functor of a user need not vectorise
#endif

/// Combines one block. The compiler is promised that iterations are independent: it could not know that `to`
/// overlaps no other operand, or overlaps it exactly.
template <operand_order Order, std::size_t Count, class T, class Op>
void combine_block(const Op& op, T* to, const T* from, const std::byte* arriving) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#pragma GCC unroll 4
#endif
  for (std::size_t i = 0; i < Count; ++i) {
    to[i] = combine<Order>(op, from[i], arriving + i * sizeof(T));
  }
}

}  // namespace detail

/// Combines `count` elements: to[i] = op(from[i], arriving[i]), or op(arriving[i], from[i]) when Order is
/// arriving_first.
///
/// Op: a Reduction that takes T as it is (the accumulator of a lifted one). `to` may be `from`; `arriving`
/// needs no alignment and may be equal to either; otherwise no two of the three overlap.
///
/// The built-in functors vectorise at -O2 for every arithmetic type, float16 and bfloat16, except where SSE2
/// has no instruction for it: 64-bit Product (g++), Min and Max, and saturating<Product> of 32 and 64 bits.
///
/// Never inlined, so that how well it vectorises does not depend on its caller.
template <operand_order Order, class T, class Op>
[[gnu::noinline]] void apply(const Op& op, T* to, const T* from, const std::byte* arriving,
                             std::size_t count) {
  if constexpr (std::same_as<T, bool>) {
    // Compilers vectorise bytes better than bool, and a byte other than 0 and 1 may arrive.
    const auto bytewise = [&op](unsigned char a, unsigned char b) { return op(a != 0, b != 0); };
    apply<Order>(bytewise, reinterpret_cast<unsigned char*>(to), reinterpret_cast<const unsigned char*>(from),
                 arriving, count);
  } else {
    // Blocks of a fixed size, so that no scalar epilogue keeps -O2 from vectorising.
    constexpr std::size_t block = sizeof(T) < 8 ? 128 / sizeof(T) : 16;
    std::size_t done = 0;
    if constexpr (std::same_as<T, float16>) {
      done = detail::combine_float16(op, to, from, arriving, count);
    }
    for (; count - done >= block; done += block) {
      detail::combine_block<Order, block>(op, to + done, from + done, arriving + done * sizeof(T));
    }
    for (; done < count; ++done) {
      to[done] = detail::combine<Order>(op, from[done], arriving + done * sizeof(T));
    }
  }
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace hccl::inline v0
