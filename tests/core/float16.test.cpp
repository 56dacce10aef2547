// SPDX-License-Identifier: Apache-2.0

#include "core/small_float.hpp"
#include "test.hpp"

#include <hccl/core/element.hpp>
#include <hccl/core/float16.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>

using hccl::float16;
using small_float_test::format;

namespace {

constexpr format float16_format{.fraction_bits = 10, .least_exponent = -14, .bias = 15};

static_assert(hccl::Element<float16>);
static_assert(sizeof(float16) == 2 && alignof(float16) == 2);
static_assert(float16{1.5f} + float16{2} == 3.5f);
static_assert(float16{1.0f}.bits() == 0x3c00);
static_assert(float16::from_bits(0xc000) == -2.0f);
static_assert(float16{65519.0f} == 65504.0f && float16{65520.0f} == std::numeric_limits<float>::infinity());

struct plain {
  int a;
  float16 b;
};

static_assert(hccl::Element<int> && hccl::Element<std::complex<float>> && hccl::Element<plain>);
static_assert(!hccl::Element<std::string> && !hccl::Element<const int> && !hccl::Element<int*> &&
              !hccl::Element<int&> && !hccl::Element<void>);

}  // namespace

TEST_CASE("float16: every pattern survives the way through float") {
  CHECK(small_float_test::count_broken_round_trips<float16>(float16_format) == 0);
}

TEST_CASE("float16: numbers round to the nearest, ties to even") {
  CHECK(small_float_test::count_wrong_roundings<float16>(float16_format) == 0);
}

TEST_CASE("float16: NaN becomes a quiet NaN of its sign, infinity stays infinity") {
  small_float_test::check_special_values<float16>();
}

TEST_CASE("float16: numeric_limits agree with the format") {
  using limits = std::numeric_limits<float16>;
  CHECK(float{limits::min()} == std::ldexp(1.0f, -14));
  CHECK(float{limits::max()} == 65504.0f);
  CHECK(float{limits::lowest()} == -65504.0f);
  CHECK(float{limits::epsilon()} == std::ldexp(1.0f, -10));
  CHECK(float{limits::round_error()} == 0.5f);
  CHECK(float{limits::denorm_min()} == std::ldexp(1.0f, -24));
  CHECK(std::isinf(float{limits::infinity()}));
  CHECK(std::isnan(float{limits::quiet_NaN()}));
  CHECK(std::isnan(float{limits::signaling_NaN()}));
  CHECK(limits::max_digits10 == 5);
}

TEST_CASE("float16: arithmetic rounds each result and compares as float") {
  small_float_test::check_arithmetic<float16>();
  CHECK(float16{2048.0f} + float16{1.0f} == 2048.0f);
  CHECK(float16{2048.0f} + float16{3.0f} == 2052.0f);
}
