// SPDX-License-Identifier: Apache-2.0
#pragma once

// bfloat16: the upper half of an IEEE binary32, a 16-bit element with the range of float.

#include <hccl/core/detail/small_float.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hccl::inline v0 {

/// Holds a brain floating-point number: 1 sign, 8 exponent and 7 fraction bits, two bytes, trivially
/// copyable.
///
/// Converts to float implicitly (exact) and from numbers explicitly, by way of float: round to nearest even;
/// infinity is kept, overflow gives infinity, subnormals are exact and NaN stays NaN with its sign and the
/// upper part of its payload. Arithmetic computes in float and rounds each result.
///
/// The conversion is a few integer instructions on every target. The AVX512-BF16 instructions are not used on
/// purpose: they flush subnormals, and ranks on different machines must compute the same bits.
class bfloat16 : public detail::small_float<bfloat16> {
 public:
  bfloat16() = default;

  /// Rounds `value`, taken as a float, to the nearest bfloat16.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit constexpr bfloat16(Number value) noexcept : bits_(narrow(static_cast<float>(value))) {}

  /// Gives the exact value.
  constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

  /// Makes the number that is stored as `bits`.
  static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 result{};
    result.bits_ = bits;
    return result;
  }

  /// Gives the stored form: sign, exponent and fraction from the top bit down.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  // Branch-free, so that loops over it vectorise.
  static constexpr std::uint16_t narrow(float value) noexcept {
    const auto x = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = x + 0x7fffu + (x >> 16 & 1u);
    const std::uint32_t quiet_nan = x | 0x0040'0000u;
    return static_cast<std::uint16_t>((value != value ? quiet_nan : rounded) >> 16);
  }

  std::uint16_t bits_;
};

}  // namespace hccl::inline v0

template <>
class std::numeric_limits<hccl::bfloat16> {
  static constexpr hccl::bfloat16 make(std::uint16_t bits) noexcept {
    return hccl::bfloat16::from_bits(bits);
  }

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
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;

  static constexpr hccl::bfloat16 min() noexcept { return make(0x0080); }
  static constexpr hccl::bfloat16 max() noexcept { return make(0x7f7f); }
  static constexpr hccl::bfloat16 lowest() noexcept { return make(0xff7f); }
  static constexpr hccl::bfloat16 epsilon() noexcept { return make(0x3c00); }
  static constexpr hccl::bfloat16 round_error() noexcept { return make(0x3f00); }
  static constexpr hccl::bfloat16 infinity() noexcept { return make(0x7f80); }
  static constexpr hccl::bfloat16 quiet_NaN() noexcept { return make(0x7fc0); }
  static constexpr hccl::bfloat16 signaling_NaN() noexcept { return make(0x7fa0); }
  static constexpr hccl::bfloat16 denorm_min() noexcept { return make(0x0001); }
};
