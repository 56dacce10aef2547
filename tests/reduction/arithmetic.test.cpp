// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/arithmetic.hpp>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using hccl::Product;
using hccl::Sum;

TEST_CASE("case A16: an int8 sum beyond the range wraps") {
  CHECK(fold(Sum{}, std::vector<std::int8_t>{100, 120}) == -36);
  CHECK(fold(Product{}, std::vector<std::int8_t>{100, 120}) == -32);
}

TEST_CASE("case A17: a bool sum is or, a bool product is and, and results are 0 or 1") {
  for (std::size_t ranks = 2; ranks <= 5; ++ranks) {
    for (std::uint32_t pattern = 0; pattern < 1u << ranks; ++pattern) {
      bool sum = (pattern & 1u) != 0;
      bool product = sum;
      for (std::size_t i = 1; i < ranks; ++i) {
        sum = Sum{}(sum, (pattern >> i & 1u) != 0);
        product = Product{}(product, (pattern >> i & 1u) != 0);
      }
      CHECK(sum == (pattern != 0));
      CHECK(product == (pattern == (1u << ranks) - 1));
    }
  }
  bool sum = true;
  for (int i = 1; i < 256; ++i) {
    sum = Sum{}(sum, true);
  }
  unsigned char byte = 0;
  std::memcpy(&byte, &sum, 1);
  CHECK(byte == 1);
}

TEMPLATE_TEST_CASE("short integers wrap like the low bits of the exact result", "", std::int8_t,
                   std::uint8_t) {
  constexpr int low = std::numeric_limits<TestType>::min();
  constexpr int high = std::numeric_limits<TestType>::max();
  int wrong = 0;
  for (int a = low; a <= high; ++a) {
    for (int b = low; b <= high; ++b) {
      const auto x = static_cast<TestType>(a);
      const auto y = static_cast<TestType>(b);
      wrong += ((Sum{}(x, y) - (a + b)) & 0xff) != 0;
      wrong += ((Product{}(x, y) - a * b) & 0xff) != 0;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("integers wrap at the ends of their range", "", std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, wchar_t, char16_t) {
  constexpr TestType low = std::numeric_limits<TestType>::min();
  constexpr TestType high = std::numeric_limits<TestType>::max();
  CHECK(Sum{}(high, TestType{1}) == low);
  CHECK(Sum{}(high, high) == static_cast<TestType>(-2));
  CHECK(Product{}(high, high) == 1);
  CHECK(Product{}(low, TestType{2}) == 0);
  CHECK(Product{}(TestType{11}, TestType{13}) == 143);
}

TEST_CASE("floating-point and complex numbers add and multiply as such") {
  CHECK(Sum{}(1.5f, 2.25f) == 3.75f);
  CHECK(Product{}(1.5, 2.5) == 3.75);
  CHECK(Sum{}(1.5L, 2.25L) == 3.75L);
  CHECK(Sum{}(std::complex<float>{1, 2}, std::complex<float>{3, -5}) == std::complex<float>{4, -3});
  CHECK(Product{}(std::complex<double>{1, 2}, std::complex<double>{3, -5}) == std::complex<double>{13, 1});
}

TEST_CASE("16-bit numbers round at each step") {
  CHECK(Sum{}(hccl::bfloat16{256}, hccl::bfloat16{1}) == 256.0f);
  CHECK(Sum{}(hccl::float16{2048}, hccl::float16{3}) == 2052.0f);
  CHECK(Product{}(hccl::float16{256}, hccl::float16{256}) == std::numeric_limits<float>::infinity());
}
