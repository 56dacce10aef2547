// SPDX-License-Identifier: Apache-2.0

#include "core/small_float.hpp"
#include "test.hpp"

#include <hccl/core/bfloat16.hpp>
#include <hccl/core/element.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

using hccl::bfloat16;
using small_float_test::format;

namespace {

constexpr format bfloat16_format{.fraction_bits = 7, .least_exponent = -126, .bias = 127};

static_assert(hccl::Element<bfloat16>);
static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2);
static_assert(bfloat16{1.5f} + bfloat16{2} == 3.5f);
static_assert(bfloat16{1.0f}.bits() == 0x3f80);
static_assert(bfloat16::from_bits(0xc000) == -2.0f);

}  // namespace

TEST_CASE("bfloat16: every pattern survives the way through float") {
  CHECK(small_float_test::count_broken_round_trips<bfloat16>(bfloat16_format) == 0);
}

TEST_CASE("bfloat16: numbers round to the nearest, ties to even") {
  CHECK(small_float_test::count_wrong_roundings<bfloat16>(bfloat16_format) == 0);
}

TEST_CASE("bfloat16: NaN becomes a quiet NaN of its sign, infinity stays infinity") {
  small_float_test::check_special_values<bfloat16>();
}

TEST_CASE("bfloat16: numeric_limits agree with the format") {
  using limits = std::numeric_limits<bfloat16>;
  CHECK(float{limits::min()} == std::ldexp(1.0f, -126));
  CHECK(float{limits::max()} == std::ldexp(255.0f, 120));
  CHECK(float{limits::lowest()} == -std::ldexp(255.0f, 120));
  CHECK(float{limits::epsilon()} == std::ldexp(1.0f, -7));
  CHECK(float{limits::round_error()} == 0.5f);
  CHECK(float{limits::denorm_min()} == std::ldexp(1.0f, -133));
  CHECK(std::isinf(float{limits::infinity()}));
  CHECK(std::isnan(float{limits::quiet_NaN()}));
  CHECK(std::isnan(float{limits::signaling_NaN()}));
  CHECK(limits::max_digits10 == 4);
}

TEST_CASE("bfloat16: arithmetic rounds each result and compares as float") {
  small_float_test::check_arithmetic<bfloat16>();
  CHECK(bfloat16{256.0f} + bfloat16{1.0f} == 256.0f);
  CHECK(bfloat16{256.0f} + bfloat16{3.0f} == 260.0f);
}
