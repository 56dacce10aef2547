// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/reduction/logical.hpp>

#include <cstdint>
#include <limits>

TEMPLATE_TEST_CASE("truth is anything but zero, and the result is 0 or 1", "", bool, std::int8_t,
                   std::uint16_t, std::int32_t, std::int64_t, std::uint64_t, float, double, long double) {
  using limits = std::numeric_limits<TestType>;
  for (const TestType yes :
       {TestType{1}, limits::max(), limits::lowest() == 0 ? limits::max() : limits::lowest()}) {
    const TestType no{};
    CHECK(hccl::LogicalAnd{}(yes, TestType{1}) == TestType{1});
    CHECK(hccl::LogicalAnd{}(yes, no) == no);
    CHECK(hccl::LogicalAnd{}(no, no) == no);
    CHECK(hccl::LogicalOr{}(yes, no) == TestType{1});
    CHECK(hccl::LogicalOr{}(no, yes) == TestType{1});
    CHECK(hccl::LogicalOr{}(no, no) == no);
    CHECK(hccl::LogicalXor{}(yes, no) == TestType{1});
    CHECK(hccl::LogicalXor{}(yes, TestType{1}) == no);
    CHECK(hccl::LogicalXor{}(no, no) == no);
  }
}

TEST_CASE("a 64-bit number is true by any of its bits, NaN is true and -0 is not") {
  for (int bit = 0; bit < 64; ++bit) {
    CHECK(hccl::LogicalOr{}(std::uint64_t{1} << bit, std::uint64_t{0}) == 1);
  }
  CHECK(hccl::LogicalAnd{}(std::numeric_limits<double>::quiet_NaN(), 1.0) == 1.0);
  CHECK(hccl::LogicalOr{}(-0.0, 0.0) == 0.0);
}
