// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/bootstrap/run_local.hpp>

using hccl::LocalTransport;

TEMPLATE_TEST_CASE("every collective by every algorithm is right on threads", "", HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts) {
    hccl_test::check_matrix<TestType, LocalTransport>(
        ranks, [](int n, auto&& f) { hccl::run_local(n, f); });
  }
  SUCCEED();
}
