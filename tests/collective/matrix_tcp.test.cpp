// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/transport/tcp.hpp>

using hccl::TcpTransport;

TEMPLATE_TEST_CASE("every collective by every algorithm is right on processes over TCP", "",
                   HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts) {
    hccl_test::check_matrix<TestType, TcpTransport>(
        ranks, [](int n, auto&& f) { hccl::run_processes<TcpTransport>(n, f); });
  }
  SUCCEED();
}
