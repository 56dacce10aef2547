// SPDX-License-Identifier: Apache-2.0
#pragma once

// float16: IEEE 754 binary16 as a 16-bit element.

#include <hccl/core/detail/small_float.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

// Where compilers turn conversions of __fp16 into the target's instructions, in loops too.
#if defined(__ARM_FP16_FORMAT_IEEE) || (defined(__clang__) && defined(__F16C__))
#define HCCLPP_HARDWARE_FLOAT16
#endif

namespace hccl::inline v0 {

/// Holds a half-precision number (IEEE 754 binary16): 1 sign, 5 exponent and 10 fraction bits, two bytes,
/// trivially copyable.
///
/// Converts to float implicitly (exact) and from numbers explicitly, by way of float: round to nearest even;
/// infinity is kept, overflow gives infinity, subnormals are exact and NaN stays NaN with its sign and the
/// upper part of its payload. Arithmetic computes in float and rounds each result. Conversions use the
/// target's instructions where the compiler's flags allow it, and give the same bits with and without (but
/// for the quieting of NaN).
class float16 : public detail::small_float<float16> {
 public:
  float16() = default;

  /// Rounds `value`, taken as a float, to the nearest float16.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit constexpr float16(Number value) noexcept : bits_(round(static_cast<float>(value))) {}

  /// Gives the exact value.
  constexpr operator float() const noexcept { return expand(bits_); }

  /// Makes the number that is stored as `bits`.
  static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 result{};
    result.bits_ = bits;
    return result;
  }

  /// Gives the stored form: sign, exponent and fraction from the top bit down.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  static constexpr float expand(std::uint16_t half) noexcept {
#if defined(HCCLPP_HARDWARE_FLOAT16)
    if (!std::is_constant_evaluated()) {
      return static_cast<float>(__builtin_bit_cast(__fp16, half));
    }
#endif
    return widen(half);
  }

  static constexpr std::uint16_t round(float value) noexcept {
#if defined(HCCLPP_HARDWARE_FLOAT16)
    if (!std::is_constant_evaluated()) {
      const __fp16 half = static_cast<__fp16>(value);
      return __builtin_bit_cast(std::uint16_t, half);
    }
#endif
    return narrow(value);
  }

  // Both conversions are free of branches, so that loops over them vectorise, and give the same bits on a
  // thread that flushes subnormal floats.
  static constexpr float widen(std::uint16_t half) noexcept {
    const std::int32_t magnitude = (half & 0x7fff) << 13;
    const std::int32_t is_subnormal = mask(magnitude < 1 << 23);
    const std::int32_t is_special = mask(magnitude >= 31 << 23);
    // A subnormal takes the least exponent, whose implicit bit is then subtracted. The exponent's bias goes
    // from 15 to 127, and once more by as much for infinity and NaN.
    const float shifted = as_float(magnitude + (112 << 23) + (is_subnormal & 1 << 23));
    const float finite = shifted - as_float(is_subnormal & as_bits(0x1p-14f));
    const std::int32_t sign = half >> 15 << 31;
    return as_float((as_bits(finite) + (is_special & 112 << 23)) | sign);
  }

  static constexpr std::uint16_t narrow(float value) noexcept {
    const std::int32_t bits = as_bits(value);
    const std::int32_t magnitude = bits & 0x7fff'ffff;
    const std::int32_t limited = magnitude < as_bits(0x1p16f) ? magnitude : as_bits(0x1p16f);
    const std::int32_t power = limited & 0x7f80'0000;
    // In the sum with a power of two 2^13 times as large, the last bit has the weight of the last bit of the
    // result.
    const std::int32_t large = (power > as_bits(0x1p-14f) ? power : as_bits(0x1p-14f)) + (13 << 23);
    const std::int32_t fraction = as_bits(as_float(limited) + as_float(large)) - large;
    const std::int32_t exponent = (large >> 13) - (126 << 10);
    const std::int32_t nan = mask(value != value) & (0x0200 | (bits >> 13 & 0x03ff));
    return static_cast<std::uint16_t>((exponent + fraction) | nan | (bits >> 16 & 0x8000));
  }

  static constexpr std::int32_t as_bits(float x) noexcept { return std::bit_cast<std::int32_t>(x); }
  static constexpr float as_float(std::int32_t bits) noexcept { return std::bit_cast<float>(bits); }
  static constexpr std::int32_t mask(bool condition) noexcept {
    return -static_cast<std::int32_t>(condition);
  }

  std::uint16_t bits_;
};

}  // namespace hccl::inline v0

#undef HCCLPP_HARDWARE_FLOAT16

template <>
class std::numeric_limits<hccl::float16> {
  static constexpr hccl::float16 make(std::uint16_t bits) noexcept { return hccl::float16::from_bits(bits); }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr int radix = 2;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;

  static constexpr hccl::float16 min() noexcept { return make(0x0400); }
  static constexpr hccl::float16 max() noexcept { return make(0x7bff); }
  static constexpr hccl::float16 lowest() noexcept { return make(0xfbff); }
  static constexpr hccl::float16 epsilon() noexcept { return make(0x1400); }
  static constexpr hccl::float16 round_error() noexcept { return make(0x3800); }
  static constexpr hccl::float16 infinity() noexcept { return make(0x7c00); }
  static constexpr hccl::float16 quiet_NaN() noexcept { return make(0x7e00); }
  static constexpr hccl::float16 signaling_NaN() noexcept { return make(0x7d00); }
  static constexpr hccl::float16 denorm_min() noexcept { return make(0x0001); }
};
