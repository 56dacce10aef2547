// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/checked.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

using hccl::checked;
using hccl::Sum;

TEST_CASE("case A16: a checked int8 sum fails beyond 127") {
  CHECK(fold(checked<Sum>{}, std::vector<std::int8_t>{100, 27}) == 127);
  CHECK_THROWS_AS(fold(checked<Sum>{}, std::vector<std::int8_t>{100, 28}), std::overflow_error);
  CHECK(fold(checked<Sum>{}, std::vector<std::int8_t>{-100, -28}) == -128);
  CHECK_THROWS_AS(fold(checked<Sum>{}, std::vector<std::int8_t>{-100, -29}), std::overflow_error);
}

TEST_CASE("a checked sum may leave the range on the way") {
  CHECK(fold(checked<Sum>{}, std::vector<std::int8_t>{100, 100, -100}) == 100);
}

TEMPLATE_TEST_CASE("a checked sum knows the range of every integer", "", std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  constexpr TestType most = std::numeric_limits<TestType>::max();
  CHECK(fold(checked<Sum>{}, std::vector<TestType>{most, 0}) == most);
  CHECK_THROWS_AS(fold(checked<Sum>{}, std::vector<TestType>{most, 1}), std::overflow_error);
  CHECK_THROWS_AS(fold(checked<Sum>{}, std::vector<TestType>{most, most}), std::overflow_error);
}
