// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/average.hpp>

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using hccl::Average;

TEST_CASE("case A16: an int8 average does not overflow") {
  CHECK(fold(Average{}, std::vector<std::int8_t>{100, 120}) == 110);
}

TEMPLATE_TEST_CASE("an integer mean is exact and rounds toward zero", "", std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  constexpr TestType low = std::numeric_limits<TestType>::min();
  constexpr TestType high = std::numeric_limits<TestType>::max();
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    CHECK(fold(Average{}, std::vector<TestType>(ranks, high)) == high);
    CHECK(fold(Average{}, std::vector<TestType>(ranks, low)) == low);
  }
  CHECK(fold(Average{}, std::vector<TestType>{1, 2}) == 1);
  CHECK(fold(Average{}, std::vector<TestType>{2, 3, 3}) == 2);
  CHECK(fold(Average{}, std::vector<TestType>{high, high, static_cast<TestType>(high - 1)}) == high - 1);
  if constexpr (std::is_signed_v<TestType>) {
    CHECK(fold(Average{}, std::vector<TestType>{-1, -2}) == -1);
    CHECK(fold(Average{}, std::vector<TestType>{low, high}) == 0);
  }
}

TEMPLATE_TEST_CASE("the mean of the largest numbers is finite and as large, up to rounding", "", float,
                   double, long double, hccl::float16, hccl::bfloat16) {
  const TestType high = std::numeric_limits<TestType>::max();
  const auto bound = static_cast<long double>(high);
  for (std::size_t ranks = 1; ranks <= 40; ++ranks) {
    const auto relative_error = static_cast<long double>(std::numeric_limits<TestType>::epsilon()) * ranks;
    const auto mean = static_cast<long double>(fold(Average{}, std::vector<TestType>(ranks, high)));
    CHECK(mean <= bound);
    CHECK(mean >= bound * (1 - relative_error));
    CHECK(static_cast<long double>(fold(Average{}, std::vector<TestType>(ranks, TestType{-high}))) == -mean);
  }
}

TEMPLATE_TEST_CASE("a floating-point mean divides by the number of ranks, one included", "", float, double,
                   long double, hccl::float16, hccl::bfloat16) {
  const TestType least = std::numeric_limits<TestType>::denorm_min();
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  CHECK(fold(Average{}, std::vector<TestType>{TestType{1}, TestType{2}, TestType{6}}) == TestType{3});
  CHECK(fold(Average{}, std::vector<TestType>{TestType{1}, TestType{2}}) == TestType{1.5f});
  CHECK(fold(Average{}, std::vector<TestType>{TestType{0.75f}}) == TestType{0.75f});
  CHECK(fold(Average{}, std::vector<TestType>{least}) == least);
  CHECK(fold(Average{}, std::vector<TestType>{infinity, TestType{1}, TestType{1}}) == infinity);
}

TEST_CASE("16-bit means are rounded once") {
  std::vector<hccl::bfloat16> contributions(8, hccl::bfloat16{1});
  contributions.push_back(hccl::bfloat16{256});
  CHECK(fold(Average{}, contributions) == hccl::bfloat16{264.0f / 9});
}

TEST_CASE("complex numbers are averaged by part") {
  using complex = std::complex<float>;
  const float high = std::numeric_limits<float>::max();
  CHECK(fold(Average{}, std::vector<complex>{{1, -2}, {3, 4}, {5, 1}}) == complex{3, 1});
  CHECK(fold(Average{}, std::vector<complex>{{high, -high}, {high, -high}}) == complex{high, -high});
}
