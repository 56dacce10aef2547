// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that float16 and bfloat16 share, against a reference that computes in double.

#include "test.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace small_float_test {

struct format {
  int fraction_bits;
  int least_exponent;  // of a normal number
  int bias;
};

constexpr std::uint16_t magnitude_bits = 0x7fff;

inline std::uint16_t infinity_bits(const format& f) {
  return static_cast<std::uint16_t>((2 * f.bias + 1) << f.fraction_bits);
}

/// The exact value of the finite number stored as `bits`.
inline double value_of(std::uint16_t bits, const format& f) {
  const int magnitude = bits & magnitude_bits;
  const int exponent = magnitude >> f.fraction_bits;
  const int fraction = magnitude & ((1 << f.fraction_bits) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << f.fraction_bits);
  const int scale = (exponent == 0 ? f.least_exponent : exponent - f.bias) - f.fraction_bits;
  const double value = std::ldexp(significand, scale);
  return (bits >> 15) != 0 ? -value : value;
}

/// The stored form of the number next to x, by rounding the quotient by the unit in the last place in double.
inline std::uint16_t nearest(float x, const format& f) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const double magnitude = std::fabs(double{x});
  int exponent = f.least_exponent;
  if (std::isinf(x)) {
    return static_cast<std::uint16_t>(sign | infinity_bits(f));
  }
  if (magnitude != 0.0 && std::ilogb(magnitude) > exponent) {
    exponent = std::ilogb(magnitude);
  }
  const double units = std::nearbyint(std::ldexp(magnitude, f.fraction_bits - exponent));
  const int leading = (exponent - f.least_exponent) << f.fraction_bits;
  const int rounded = leading + static_cast<int>(units);
  return static_cast<std::uint16_t>(sign | (rounded < infinity_bits(f) ? rounded : infinity_bits(f)));
}

template <class T>
int count_broken_round_trips(const format& f) {
  int broken = 0;
  for (std::uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = T::from_bits(bits);
    const std::uint16_t magnitude = bits & magnitude_bits;
    if (magnitude > infinity_bits(f)) {
      const auto quiet = static_cast<std::uint16_t>(bits | 1 << (f.fraction_bits - 1));
      broken += !(std::isnan(value) && (T{value}.bits() == quiet || T{value}.bits() == bits));
    } else if (magnitude == infinity_bits(f)) {
      broken += !(std::isinf(value) && T{value}.bits() == bits);
    } else {
      broken += !(double{value} == value_of(bits, f) && std::signbit(value) == (bits >> 15 != 0) &&
                  T{value}.bits() == bits);
    }
  }
  return broken;
}

/// Each number of the format, the middle between it and the next, and their neighbours in float.
inline std::vector<float> boundaries(const format& f) {
  std::vector<float> result;
  for (int bits = 0; bits < infinity_bits(f); ++bits) {
    const double low = value_of(static_cast<std::uint16_t>(bits), f);
    const double last = value_of(static_cast<std::uint16_t>(infinity_bits(f) - 1), f);
    const double high =
        bits + 1 < infinity_bits(f) ? value_of(static_cast<std::uint16_t>(bits + 1), f) : last * 1.005;
    for (const double x : {low, (low + high) / 2}) {
      const auto y = static_cast<float>(x);
      for (const float z :
           {std::nextafter(y, -1.0f), y, std::nextafter(y, std::numeric_limits<float>::infinity())}) {
        result.push_back(z);
        result.push_back(-z);
      }
    }
  }
  return result;
}

template <class T>
int count_wrong_roundings(const format& f) {
  std::vector<float> values = boundaries(f);
  std::mt19937 random{20240611};
  for (int i = 0; i < 2'000'000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(x)) {
      values.push_back(x);
    }
  }
  int wrong = 0;
  for (const float x : values) {
    wrong += T{x}.bits() != nearest(x, f);
  }
  return wrong;
}

template <class T>
void check_special_values() {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(float{T{infinity}} == infinity);
  CHECK(float{T{-infinity}} == -infinity);
  CHECK(float{T{std::numeric_limits<float>::max()}} == infinity);
  CHECK(float{T{std::numeric_limits<float>::denorm_min()}} == 0.0f);
  CHECK(T{-0.0f}.bits() == 0x8000);

  const std::uint16_t quiet_bit =
      std::numeric_limits<T>::quiet_NaN().bits() & ~std::numeric_limits<T>::infinity().bits();
  for (const std::uint32_t sign : {0u, 0x8000'0000u}) {
    for (const std::uint32_t payload :
         {1u, 0x1fffu, 0x2000u, 0xffffu, 0x10000u, 0x3f'ffffu, 0x40'0000u, 0x7f'ffffu}) {
      const T x{std::bit_cast<float>(sign | 0x7f80'0000u | payload)};
      CHECK((x.bits() & magnitude_bits) > std::numeric_limits<T>::infinity().bits());
      CHECK((x.bits() & quiet_bit) != 0);
      CHECK(x.bits() >> 15 == sign >> 31);
    }
  }
}

template <class T>
void check_arithmetic() {
  T a{1.5f};
  const T b{2.25f};
  const float as_float = a;
  CHECK(as_float == 1.5f);
  CHECK(a + b == 3.75f);
  CHECK(a - b == -0.75f);
  CHECK(a * b == 3.375f);
  CHECK(b / T{0.5f} == 4.5f);
  CHECK((-a).bits() == (a.bits() ^ 0x8000));
  CHECK((+a).bits() == a.bits());
  CHECK(a < b);
  CHECK(a != b);
  CHECK(T{0.0f} == T{-0.0f});
  CHECK(std::numeric_limits<T>::quiet_NaN() != std::numeric_limits<T>::quiet_NaN());
  CHECK((a += b) == 3.75f);
  CHECK((a -= T{0.75f}) == 3.0f);
  CHECK((a *= 2.0f) == 6.0f);
  CHECK((a /= 4.0f) == 1.5f);
  CHECK(static_cast<T>(7) == 7.0f);
}

}  // namespace small_float_test
