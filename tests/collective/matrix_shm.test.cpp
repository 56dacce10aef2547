// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix_on_processes.hpp"
#include "test.hpp"

#include <hccl/transport/shm.hpp>

#include <vector>

namespace {

using Net = hccl::ShmTransport;

}  // namespace

TEMPLATE_TEST_CASE("every reduction by every algorithm is right on processes that share memory", "", float,
                   hccl_test::Matrix) {
  CHECK_NOTHROW(hccl_test::check_reductions_on_processes<Net, TestType>(hccl_test::process_counts));
}

TEST_CASE("every move by every algorithm is right on processes that share memory") {
  CHECK_NOTHROW(hccl_test::check_moves_on_processes<Net, hccl_test::Matrix>(hccl_test::process_counts));
}
