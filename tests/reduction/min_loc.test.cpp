// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/core/element.hpp>
#include <hccl/reduction/min_loc.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using hccl::MaxLoc;
using hccl::MinLoc;
using hccl::value_and_index;

TEMPLATE_TEST_CASE("MinLoc and MaxLoc find the extreme and its lowest index, whatever the order", "", int,
                   double, std::int8_t, hccl::float16) {
  std::vector<value_and_index<TestType>> items;
  for (int i = 0; i < 20; ++i) {
    items.push_back({static_cast<TestType>((i * 7 + 3) % 10), i});
  }
  for (int turn = 0; turn < 20; ++turn) {
    const auto least = fold(MinLoc{}, items);
    const auto greatest = fold(MaxLoc{}, items);
    CHECK(least.value == TestType{0});
    CHECK(least.index == 1);
    CHECK(greatest.value == static_cast<TestType>(9));
    CHECK(greatest.index == 8);
    items.insert(items.begin(), items.back());
    items.pop_back();
  }
}

TEMPLATE_TEST_CASE("NaN wins with its index, the lower index among several", "", float, double,
                   hccl::bfloat16) {
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  const value_and_index<TestType> early{nan, 3};
  const value_and_index<TestType> late{TestType{-nan}, 7};
  for (const TestType number : {TestType{-infinity}, TestType{0.0f}, infinity}) {
    const value_and_index<TestType> other{number, 1};
    CHECK(MinLoc{}(late, other).index == 7);
    CHECK(MinLoc{}(other, late).index == 7);
    CHECK(MaxLoc{}(late, other).index == 7);
    CHECK(MaxLoc{}(other, late).index == 7);
  }
  CHECK(MinLoc{}(late, early).index == 3);
  CHECK(MinLoc{}(early, late).index == 3);
  CHECK(MaxLoc{}(late, early).index == 3);
  CHECK(MaxLoc{}(early, late).index == 3);
}

TEST_CASE("a zero of -0 lies before +0 also with an index") {
  const value_and_index<float> minus{-0.0f, 9};
  const value_and_index<float> plus{0.0f, 2};
  CHECK(MinLoc{}(plus, minus).index == 9);
  CHECK(MinLoc{}(minus, plus).index == 9);
  CHECK(MaxLoc{}(plus, minus).index == 2);
  CHECK(MaxLoc{}(minus, plus).index == 2);
}
