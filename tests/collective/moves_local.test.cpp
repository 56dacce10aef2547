// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstddef>
#include <cstdint>
#include <set>

namespace {

using hccl_test::all_algorithms;

/// Calls `f(checks, count, root, gap)` for all counts on every rank.
template <class T, class F>
void for_each_count(int ranks, const std::set<std::size_t>& counts, F&& f) {
  hccl_test::for_each_count<T, hccl::LocalTransport>(
      ranks, counts, [](int n, auto&& rank) { hccl::run_local(n, rank); },
      [&](auto& checks, auto& comm, std::size_t count, int root) {
        f(checks, count, root, static_cast<std::size_t>(1 + comm.rank() % 3));
      });
}

template <class T>
void check_spreading(int ranks, const std::set<std::size_t>& counts) {
  for_each_count<T>(ranks, counts, [&](auto& checks, std::size_t count, int root, std::size_t gap) {
    hccl_test::check_spreading<all_algorithms>(checks, ranks, count, root, gap);
  });
}

template <class T>
void check_personal(int ranks, const std::set<std::size_t>& counts) {
  for_each_count<T>(ranks, counts, [&](auto& checks, std::size_t count, int root, std::size_t gap) {
    hccl_test::check_personal<all_algorithms>(checks, ranks, count, root, gap);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("broadcast and allgather by every algorithm are right on threads", "",
                   HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts)
    check_spreading<TestType>(ranks, hccl_test::counts_for(ranks));
  SUCCEED();
}

TEMPLATE_TEST_CASE("gather, scatter and all-to-all by every algorithm are right on threads", "", std::int8_t,
                   hccl_test::Matrix) {
  for (const int ranks : hccl_test::rank_counts)
    check_personal<TestType>(ranks, hccl_test::counts_for(ranks));
  SUCCEED();
}

TEST_CASE("moves of many elements by every algorithm are right on threads") {
  for (const int ranks : {2, 3, 5, 8}) {
    check_spreading<std::int8_t>(ranks, {hccl_test::large_count});
    check_personal<std::int8_t>(ranks, {hccl_test::large_count});
  }
  SUCCEED();
}
