// SPDX-License-Identifier: Apache-2.0

// Every algorithm: what it offers, and the proof of it.

#include "schedule/proven.hpp"
#include "test.hpp"

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>

#include <map>
#include <string>
#include <string_view>

namespace {

/// The collectives that A offers, in words; a "+" follows those that combine contributions in rank order.
template <class A>
std::string offers() {
  std::string all;
  hccl_test::for_each_offered<A>([&]<class C>() {
    constexpr bool reduces = C::input == hccl::portion::all && !hccl::Transposing<C>;
    all += (all.empty() ? "" : " ") + std::string(C::name);
    if (reduces && hccl::keeps_order<hccl::schedule_of<A, C>, C>) all += '+';
  });
  return all;
}

const std::map<std::string_view, std::string_view> documented{
    {"ring", "allreduce reduce_scatter allgather broadcast reduce scatter gather"},
    {"mesh", "allreduce+ reduce_scatter+ allgather broadcast reduce+ scatter gather alltoall alltoallv"},
    {"one_shot_mesh", "allreduce+ reduce_scatter+ allgather broadcast reduce+"},
    {"recursive_halving_doubling", "allreduce+ reduce_scatter allgather broadcast reduce+"},
    {"recursive_doubling", "allreduce+ scan+ exscan+"},
    {"nhr", "allreduce reduce_scatter allgather broadcast reduce scatter gather"},
    {"nonuniform_bruck", "allreduce reduce_scatter allgather broadcast reduce scatter gather"},
    {"bruck", "allgather alltoall"},
    {"pairwise", "alltoall alltoallv"},
    {"star", "allreduce+ broadcast reduce+ scatter gather"},
    {"binomial_tree", "allreduce+ broadcast reduce+ scatter gather"},
    {"double_binary_tree", "allreduce broadcast reduce"},
    {"pipeline", "allreduce+ broadcast reduce+ scan+ exscan+"},
    {"parallel_aggregated_trees", "allreduce reduce_scatter allgather"},
    {"ahc", "allreduce reduce_scatter allgather broadcast reduce scatter gather"},
    {"swing", "allreduce"},
    {"reproducible", "allreduce+ reduce_scatter+ allgather broadcast reduce+"},
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("every algorithm offers what it is documented to", "", hccl::algorithms) {
  INFO(TestType::name);
  CHECK(offers<TestType>() == documented.at(TestType::name));
}

TEMPLATE_LIST_TEST_CASE("every schedule is proven for 1 to 128 ranks", "", hccl::algorithms) {
  int proofs = 0;
  for (int n = 1; n <= 128; ++n) {
    const hccl::group g{n};
    proofs += hccl_test::expect_proven<TestType>(g, hccl_test::some_roots(g));
  }
  CHECK(proofs >= 128);
}
