// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstddef>
#include <cstdint>
#include <set>

namespace {

/// Checks broadcast and allgather on threads.
template <class T>
void check_all(int ranks, const std::set<std::size_t>& counts) {
  hccl_test::on_threads<T>(ranks, counts, [&](auto& checks, std::size_t count, int root, std::size_t gap) {
    hccl_test::check_spreading<hccl_test::all_algorithms>(checks, ranks, count, root, gap);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("broadcast and allgather by every algorithm are right on threads", "",
                   HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts)
    CHECK_NOTHROW(check_all<TestType>(ranks, hccl_test::counts_for(ranks)));
}

TEST_CASE("broadcast and allgather of many elements are right on threads") {
  for (const int ranks : hccl_test::few_rank_counts)
    CHECK_NOTHROW(check_all<std::int8_t>(ranks, {hccl_test::large_count}));
}

TEMPLATE_TEST_CASE("broadcast and allgather of many elements are right on threads, in full",
                   HCCLPP_TEST_IN_FULL, HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts)
    CHECK_NOTHROW(check_all<TestType>(ranks, {hccl_test::large_count}));
}
