// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/transport/tcp.hpp>

#include <cstddef>

TEMPLATE_TEST_CASE("every collective by every algorithm is right on processes over TCP", "", float,
                   hccl_test::Matrix) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    hccl_test::for_each_count<TestType, hccl::TcpTransport>(
        ranks, {0, 1, 5, 1000, hccl_test::large_count},
        [](int n, auto&& f) { hccl::run_processes<hccl::TcpTransport>(n, f); },
        [&](auto& checks, auto& comm, std::size_t count, int root) {
          using As = hccl_test::all_algorithms;
          const auto gap = static_cast<std::size_t>(1 + comm.rank() % 3);
          hccl_test::check_reductions<As>(checks, ranks, count, root);
          hccl_test::check_spreading<As>(checks, ranks, count, root, gap);
          hccl_test::check_personal<As>(checks, ranks, count, root, gap);
        });
  }
  SUCCEED();
}
