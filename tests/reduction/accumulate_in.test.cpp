// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/accumulate_in.hpp>
#include <hccl/reduction/average.hpp>
#include <hccl/reduction/min_max.hpp>
#include <hccl/reduction/pre_mul_sum.hpp>

#include <cstdint>
#include <vector>

using hccl::accumulate_in;
using hccl::bfloat16;
using hccl::float16;
using hccl::Sum;

namespace {

template <class T>
std::vector<T> large_then_ones(float large) {
  std::vector<T> contributions(9, T{1});
  contributions.front() = T{large};
  return contributions;
}

}  // namespace

TEST_CASE("case A20: small addends survive in a float accumulator and are lost hop by hop") {
  CHECK(fold(accumulate_in<float, Sum>{}, large_then_ones<bfloat16>(256)) == 264.0f);
  CHECK(fold(accumulate_in<float, Sum>{}, large_then_ones<float16>(2048)) == 2056.0f);
  CHECK(fold(Sum{}, large_then_ones<bfloat16>(256)) == 256.0f);
  CHECK(fold(Sum{}, large_then_ones<float16>(2048)) == 2048.0f);
}

TEST_CASE("accumulate_in works with any type and any reduction of it") {
  CHECK(fold(accumulate_in<std::int64_t>{}, std::vector<std::int8_t>{100, 100, -90}) == 110);
  CHECK(fold(accumulate_in<float, hccl::Max>{}, std::vector<float16>{float16{1}, float16{3}}) == 3.0f);
  const auto hypotenuse_squared = [](double a, double b) { return a + b; };
  CHECK(fold(accumulate_in<double, decltype(hypotenuse_squared)>{hypotenuse_squared},
             std::vector<float>{1, 2}) == 3.0f);
}

TEST_CASE("accumulate_in of a lifted reduction prepares and finishes it") {
  CHECK(fold(accumulate_in<double, hccl::Average>{}, std::vector<float>{1, 2, 6}) == 3.0f);
  CHECK(fold(accumulate_in<std::int32_t, hccl::Average>{}, std::vector<std::int8_t>{100, 120}) == 110);
  CHECK(fold(accumulate_in<float, hccl::PreMulSum<float>>{{0.5f}}, large_then_ones<bfloat16>(512)) == 260.0f);
}
