// SPDX-License-Identifier: Apache-2.0

// The loop of each built-in reduction and element type, instantiated for vectorised.cmake to look at.

#include <hccl/reduction/reductions.hpp>

#include <cstddef>
#include <cstdint>

using hccl::operand_order;

#define KERNEL(T, ...)                                                                                     \
  template void hccl::apply<operand_order::stored_first, T, __VA_ARGS__>(const __VA_ARGS__&, T*, const T*, \
                                                                         const std::byte*, std::size_t);

#define NARROW_INTEGERS(...)        \
  KERNEL(std::int8_t, __VA_ARGS__)  \
  KERNEL(std::uint8_t, __VA_ARGS__) \
  KERNEL(std::int16_t, __VA_ARGS__) \
  KERNEL(std::uint16_t, __VA_ARGS__)
#define MIDDLE_INTEGERS(...)        \
  KERNEL(std::int32_t, __VA_ARGS__) \
  KERNEL(std::uint32_t, __VA_ARGS__)
#define LONG_INTEGERS(...)          \
  KERNEL(std::int64_t, __VA_ARGS__) \
  KERNEL(std::uint64_t, __VA_ARGS__)
#define INTEGERS(...)          \
  NARROW_INTEGERS(__VA_ARGS__) \
  MIDDLE_INTEGERS(__VA_ARGS__) \
  LONG_INTEGERS(__VA_ARGS__)
#define FLOATS(...)          \
  KERNEL(float, __VA_ARGS__) \
  KERNEL(double, __VA_ARGS__)
#define SMALL_FLOATS(...)            \
  KERNEL(hccl::float16, __VA_ARGS__) \
  KERNEL(hccl::bfloat16, __VA_ARGS__)

// SSE2 has no product, order or widening product of 64-bit integers: those loops may stay scalar and are left out.
INTEGERS(hccl::Sum)
FLOATS(hccl::Sum)
SMALL_FLOATS(hccl::Sum)
KERNEL(bool, hccl::Sum)
NARROW_INTEGERS(hccl::Product)
MIDDLE_INTEGERS(hccl::Product)
FLOATS(hccl::Product)
SMALL_FLOATS(hccl::Product)
KERNEL(bool, hccl::Product)
NARROW_INTEGERS(hccl::Min)
MIDDLE_INTEGERS(hccl::Min)
FLOATS(hccl::Min)
SMALL_FLOATS(hccl::Min)
KERNEL(bool, hccl::Min)
NARROW_INTEGERS(hccl::Max)
MIDDLE_INTEGERS(hccl::Max)
FLOATS(hccl::Max)
SMALL_FLOATS(hccl::Max)
KERNEL(bool, hccl::Max)
FLOATS(hccl::MinNumber)
SMALL_FLOATS(hccl::MinNumber)
FLOATS(hccl::MaxNumber)
SMALL_FLOATS(hccl::MaxNumber)
INTEGERS(hccl::BitAnd)
INTEGERS(hccl::BitOr)
INTEGERS(hccl::BitXor)
INTEGERS(hccl::LogicalAnd)
FLOATS(hccl::LogicalAnd)
INTEGERS(hccl::LogicalOr)
FLOATS(hccl::LogicalOr)
INTEGERS(hccl::LogicalXor)
FLOATS(hccl::LogicalXor)
INTEGERS(hccl::saturating<hccl::Sum>)
NARROW_INTEGERS(hccl::saturating<hccl::Product>)
LONG_INTEGERS(hccl::Average)
FLOATS(hccl::Average)
