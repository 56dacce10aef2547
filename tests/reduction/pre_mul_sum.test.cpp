// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/pre_mul_sum.hpp>

#include <complex>
#include <cstdint>
#include <vector>

using hccl::PreMulSum;

TEST_CASE("case A23: PreMulSum multiplies on one rank too") {
  CHECK(fold(PreMulSum{0.5f}, std::vector<float>{4}) == 2.0f);
  CHECK(fold(PreMulSum{0.5}, std::vector<double>{4}) == 2.0);
  CHECK(fold(PreMulSum{3}, std::vector<int>{4}) == 12);
}

TEST_CASE("PreMulSum multiplies each contribution, then adds") {
  CHECK(fold(PreMulSum{0.5f}, std::vector<float>{1, 2, 4}) == 3.5f);
  CHECK(fold(PreMulSum{0.5f}, std::vector<double>{1, 2, 4}) == 3.5);
  CHECK(fold(PreMulSum{-2}, std::vector<std::int64_t>{1, 2, 4}) == -14);
  CHECK(fold(PreMulSum{hccl::float16{0.5f}},
             std::vector<hccl::float16>{hccl::float16{1}, hccl::float16{4}}) == 2.5f);
  CHECK(fold(PreMulSum{0.25}, std::vector<hccl::bfloat16>{hccl::bfloat16{2}, hccl::bfloat16{4}}) == 1.5f);
}

TEST_CASE("integer products wrap before they are added") {
  CHECK(fold(PreMulSum{3}, std::vector<std::int8_t>{100, 1}) == 47);
}

TEST_CASE("complex numbers take a real or a complex factor") {
  using complex = std::complex<float>;
  CHECK(fold(PreMulSum{0.5f}, std::vector<complex>{{2, 4}, {6, -2}}) == complex{4, 1});
  CHECK(fold(PreMulSum{complex{0, 1}}, std::vector<complex>{{2, 4}, {6, -2}}) == complex{-2, 8});
}
