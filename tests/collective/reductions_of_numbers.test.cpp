// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstdint>

TEMPLATE_TEST_CASE("every reduction of numbers by every algorithm is right on threads", "", float, double,
                   std::int8_t, std::uint64_t) {
  for (const int ranks : hccl_test::rank_counts)
    CHECK_NOTHROW(hccl_test::check_local_reductions<TestType>(ranks, hccl_test::counts_for(ranks)));
}

TEMPLATE_TEST_CASE("reductions of many elements are right on threads", "", float, std::int8_t) {
  for (const int ranks : hccl_test::few_rank_counts)
    CHECK_NOTHROW(hccl_test::check_local_reductions<TestType>(ranks, {hccl_test::large_count}));
}

TEMPLATE_TEST_CASE("reductions of many numbers are right on threads, in full", HCCLPP_TEST_IN_FULL, float,
                   double, std::int8_t, std::uint64_t) {
  for (const int ranks : hccl_test::rank_counts)
    CHECK_NOTHROW(hccl_test::check_local_reductions<TestType>(ranks, {hccl_test::large_count}));
}
