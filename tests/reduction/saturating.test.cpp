// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/saturating.hpp>

#include <cstdint>
#include <limits>
#include <vector>

using hccl::Product;
using hccl::saturating;
using hccl::Sum;

namespace {

__extension__ using wide = __int128;

template <class T>
T clamp(wide x) {
  constexpr wide low = std::numeric_limits<T>::min();
  constexpr wide high = std::numeric_limits<T>::max();
  return static_cast<T>(x < low ? low : x > high ? high : x);
}

/// A product that fits 127 bits unless both factors are enormous and of one type, where it is clamped anyway.
template <class T>
wide product(T a, T b) {
  wide result = 0;
  return __builtin_mul_overflow(wide{a}, wide{b}, &result) ? wide{std::numeric_limits<T>::max()} : result;
}

}  // namespace

TEST_CASE("case A16: a saturating int8 sum stops at 127") {
  CHECK(fold(saturating<Sum>{}, std::vector<std::int8_t>{100, 120}) == 127);
  CHECK(fold(saturating<Sum>{}, std::vector<std::int8_t>{-100, -120}) == -128);
}

TEMPLATE_TEST_CASE("every pair of bytes is clamped", "", std::int8_t, std::uint8_t) {
  int wrong = 0;
  for (int a = std::numeric_limits<TestType>::min(); a <= std::numeric_limits<TestType>::max(); ++a) {
    for (int b = std::numeric_limits<TestType>::min(); b <= std::numeric_limits<TestType>::max(); ++b) {
      const auto x = static_cast<TestType>(a);
      const auto y = static_cast<TestType>(b);
      wrong += saturating<Sum>{}(x, y) != clamp<TestType>(a + b);
      wrong += saturating<Product>{}(x, y) != clamp<TestType>(a * b);
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("wider integers are clamped", "", std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  std::vector<TestType> values;
  for (const TestType anchor :
       {std::numeric_limits<TestType>::min(), TestType{0},
        static_cast<TestType>(std::numeric_limits<TestType>::max() / 2),
        static_cast<TestType>(TestType{1} << (sizeof(TestType) * 4)), std::numeric_limits<TestType>::max()}) {
    for (int offset = -3; offset <= 3; ++offset) {
      values.push_back(
          static_cast<TestType>(static_cast<std::uint64_t>(anchor) + static_cast<std::uint64_t>(offset)));
    }
  }
  for (const TestType a : values) {
    for (const TestType b : values) {
      INFO(a << " and " << b);
      CHECK(saturating<Sum>{}(a, b) == clamp<TestType>(wide{a} + wide{b}));
      CHECK(saturating<Product>{}(a, b) == clamp<TestType>(product(a, b)));
    }
  }
}
