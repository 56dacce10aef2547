// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/transport/tcp.hpp>

#include <cstddef>

namespace {

/// Calls `f(checks, ranks, count, root, gap)` for a sample of counts on processes.
template <class T, class F>
void for_each_count(F&& f) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    hccl_test::for_each_count<T, hccl::TcpTransport>(
        ranks, {0, 1, 5, 1000, hccl_test::large_count},
        [](int n, auto&& rank) { hccl::run_processes<hccl::TcpTransport>(n, rank); },
        [&](auto& checks, auto& comm, std::size_t count, int root) {
          f(checks, ranks, count, root, static_cast<std::size_t>(1 + comm.rank() % 3));
        });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("every reduction by every algorithm is right on processes over TCP", "", float,
                   hccl_test::Matrix) {
  CHECK_NOTHROW(
      for_each_count<TestType>([](auto& checks, int ranks, std::size_t count, int root, std::size_t) {
        hccl_test::check_reductions<hccl_test::all_algorithms>(checks, ranks, count, root);
      }));
}

TEST_CASE("every move by every algorithm is right on processes over TCP") {
  CHECK_NOTHROW(for_each_count<hccl_test::Matrix>(
      [](auto& checks, int ranks, std::size_t count, int root, std::size_t gap) {
        hccl_test::check_spreading<hccl_test::all_algorithms>(checks, ranks, count, root, gap);
        hccl_test::check_personal<hccl_test::all_algorithms>(checks, ranks, count, root, gap);
      }));
}
