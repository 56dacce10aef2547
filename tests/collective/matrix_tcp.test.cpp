// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix_on_processes.hpp"
#include "test.hpp"

#include <hccl/transport/tcp.hpp>

#include <vector>

namespace {

using Net = hccl::TcpTransport;
const auto socket_counts = hccl_test::under_sanitizer ? std::vector{2, 3} : std::vector{1, 2, 3, 5, 8};

}  // namespace

TEMPLATE_TEST_CASE("every reduction by every algorithm is right on processes over TCP", "", float,
                   hccl_test::Matrix) {
  CHECK_NOTHROW(hccl_test::check_reductions_on_processes<Net, TestType>(socket_counts));
}

TEST_CASE("every move by every algorithm is right on processes over TCP") {
  CHECK_NOTHROW(hccl_test::check_moves_on_processes<Net, hccl_test::Matrix>(socket_counts));
}

TEMPLATE_TEST_CASE("reductions, broadcast and allgather are right on processes over TCP, in full",
                   HCCLPP_TEST_IN_FULL, HCCLPP_TEST_ELEMENTS) {
  CHECK_NOTHROW(hccl_test::check_on_processes_in_full<Net, TestType>());
}
