// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/core/element.hpp>
#include <hccl/reduction/min_max.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using hccl::Max;
using hccl::MaxNumber;
using hccl::Min;
using hccl::MinNumber;

namespace {

/// Equal, and -0 differs from +0; all NaN are one.
template <class T>
bool same(T a, T b) {
  const auto x = static_cast<long double>(a);
  const auto y = static_cast<long double>(b);
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

/// Numbers in ascending order.
template <class T>
std::vector<T> ascending() {
  using limits = std::numeric_limits<T>;
  return {T{-limits::infinity()},
          limits::lowest(),
          T{-2.0f},
          T{-1.0f},
          T{-limits::min()},
          T{-limits::denorm_min()},
          T{-0.0f},
          T{0.0f},
          limits::denorm_min(),
          limits::min(),
          T{1.0f},
          T{2.0f},
          limits::max(),
          limits::infinity()};
}

struct version {
  int major_number;
  int minor_number;
  bool operator<(const version& other) const {
    return major_number != other.major_number ? major_number < other.major_number
                                              : minor_number < other.minor_number;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("numbers are ordered, with -0 before +0", "", float, double, long double, hccl::float16,
                   hccl::bfloat16) {
  const std::vector<TestType> numbers = ascending<TestType>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      INFO("numbers " << i << " and " << j);
      const TestType smaller = numbers[i < j ? i : j];
      const TestType larger = numbers[i < j ? j : i];
      CHECK(same(Min{}(numbers[i], numbers[j]), smaller));
      CHECK(same(Max{}(numbers[i], numbers[j]), larger));
      CHECK(same(MinNumber{}(numbers[i], numbers[j]), smaller));
      CHECK(same(MaxNumber{}(numbers[i], numbers[j]), larger));
    }
  }
}

TEMPLATE_TEST_CASE("Min and Max propagate NaN of either sign and side, MinNumber and MaxNumber ignore it", "",
                   float, double, long double, hccl::float16, hccl::bfloat16) {
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  for (const TestType a_nan : {nan, TestType{-nan}}) {
    for (const TestType number : ascending<TestType>()) {
      CHECK(same(Min{}(a_nan, number), nan));
      CHECK(same(Min{}(number, a_nan), nan));
      CHECK(same(Max{}(a_nan, number), nan));
      CHECK(same(Max{}(number, a_nan), nan));
      CHECK(same(MinNumber{}(a_nan, number), number));
      CHECK(same(MinNumber{}(number, a_nan), number));
      CHECK(same(MaxNumber{}(a_nan, number), number));
      CHECK(same(MaxNumber{}(number, a_nan), number));
    }
    CHECK(same(Min{}(a_nan, nan), nan));
    CHECK(same(Max{}(nan, a_nan), nan));
    CHECK(same(MinNumber{}(a_nan, nan), nan));
    CHECK(same(MaxNumber{}(nan, a_nan), nan));
  }
}

TEMPLATE_TEST_CASE("integers of every width are ordered", "", std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  constexpr TestType low = std::numeric_limits<TestType>::min();
  constexpr TestType high = std::numeric_limits<TestType>::max();
  const TestType middle = 5;
  CHECK(Min{}(low, high) == low);
  CHECK(Min{}(high, middle) == middle);
  CHECK(Max{}(low, high) == high);
  CHECK(Max{}(middle, low) == middle);
  CHECK(MinNumber{}(middle, high) == middle);
  CHECK(MaxNumber{}(low, middle) == middle);
}

TEST_CASE("any type with operator< has a minimum and a maximum") {
  CHECK(Min{}(version{1, 9}, version{1, 4}).minor_number == 4);
  CHECK(Max{}(version{1, 9}, version{2, 4}).major_number == 2);
}

TEST_CASE("a bool minimum is and, a maximum is or") {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      CHECK(Min{}(a, b) == (a && b));
      CHECK(Max{}(a, b) == (a || b));
    }
  }
}
