// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix_on_processes.hpp"
#include "test.hpp"

#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/shm.hpp>

#include <cstddef>
#include <set>
#include <vector>

namespace {

using Net = hccl::ShmTransport;
const auto rank_counts = hccl_test::under_sanitizer ? std::vector{2, 3} : std::vector{2, 3, 4, 7, 16};

}  // namespace

TEMPLATE_TEST_CASE("every reduction by every algorithm is right on processes that share memory", "", float,
                   hccl_test::Matrix) {
  CHECK_NOTHROW(hccl_test::check_reductions_on_processes<Net, TestType>(rank_counts));
}

TEST_CASE("every move by every algorithm is right on processes that share memory") {
  CHECK_NOTHROW(hccl_test::check_moves_on_processes<Net, hccl_test::Matrix>(rank_counts));
}

TEMPLATE_TEST_CASE("what Direct does is right on processes with shared buffers", "", float,
                   hccl_test::Matrix) {
  for (const int ranks : rank_counts) {
    std::set<std::size_t> counts{0, 1, 5, 1000, hccl_test::large_count};
    for (const std::size_t bytes : hccl_test::switch_points_of_direct(ranks)) {
      counts.insert(bytes / sizeof(TestType));
      counts.insert(bytes / sizeof(TestType) + 1);
    }
    hccl_test::on_processes<Net, TestType, hccl::SharedAllocator<std::byte>>(
        {ranks}, counts, [](auto& checks, int, std::size_t count, int root, std::size_t) {
          hccl_test::check_direct(checks, count, root);
        });
  }
  SUCCEED();
}
