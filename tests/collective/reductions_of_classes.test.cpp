// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <complex>

TEMPLATE_TEST_CASE("every reduction of classes by every algorithm is right on threads", "", hccl::float16,
                   hccl::bfloat16, std::complex<float>, hccl_test::Matrix) {
  for (const int ranks : hccl_test::rank_counts)
    CHECK_NOTHROW(hccl_test::check_local_reductions<TestType>(ranks, hccl_test::counts_for(ranks)));
}

TEMPLATE_TEST_CASE("reductions of many classes are right on threads, in full", HCCLPP_TEST_IN_FULL,
                   hccl::float16, hccl::bfloat16, std::complex<float>, hccl_test::Matrix) {
  for (const int ranks : hccl_test::rank_counts)
    CHECK_NOTHROW(hccl_test::check_local_reductions<TestType>(ranks, {hccl_test::large_count}));
}
