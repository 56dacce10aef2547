// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstddef>
#include <set>

namespace {

template <class T>
void check_all(int ranks, const std::set<std::size_t>& counts) {
  hccl_test::for_each_count<T, hccl::LocalTransport>(
      ranks, counts, [](int n, auto&& f) { hccl::run_local(n, f); },
      [&](auto& checks, auto&, std::size_t count, int root) {
        hccl_test::check_reductions<hccl_test::all_algorithms>(checks, ranks, count, root);
      });
}

}  // namespace

TEMPLATE_TEST_CASE("every reduction by every algorithm is right on threads", "", HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts) check_all<TestType>(ranks, hccl_test::counts_for(ranks));
  SUCCEED();
}

TEMPLATE_TEST_CASE("large reductions are right on threads", "", float, std::int8_t) {
  for (const int ranks : {2, 3, 5, 8}) check_all<TestType>(ranks, {hccl_test::large_count});
  SUCCEED();
}
