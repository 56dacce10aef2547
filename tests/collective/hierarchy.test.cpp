// SPDX-License-Identifier: Apache-2.0

// case A32: every collective over ranks on hosts of unequal size, with every root.

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace hccl;

namespace {

using Comm = communicator<LocalTransport>;

using Hierarchies = std::tuple<AHC, Hierarchical<Mesh, Ring>, Hierarchical<NHR, RecursiveHalvingDoubling>,
                               Hierarchical<Mesh, Hierarchical<Ring, NHR>>, Auto>;

/// Calls `f(checks, count, root)` on every rank of `hosts`, for several counts and every root.
template <class T, class F>
void for_each_root(const topology& hosts, F&& f) {
  const int ranks = hosts.size();
  const auto n = static_cast<std::size_t>(ranks);
  const hccl_test::Reference<T> world(ranks, n * 300);
  run_local(ranks, [&](Comm& comm) {
    comm.set_timeout(std::chrono::seconds(60));
    comm.set_hosts(hosts);
    hccl_test::CollectiveChecks<T, LocalTransport> checks(comm, world);
    const std::vector<std::size_t> counts =
        hccl_test::under_sanitizer ? std::vector{n + 1} : std::vector<std::size_t>{1, n + 1, 300};
    for (const std::size_t count : counts) {
      for (int root = 0; root < ranks; ++root) f(checks, count, root);
    }
  });
}

topology hosts_to_test() {
  return topology(GENERATE(values<std::vector<std::vector<int>>>(
      {{{3, 1}}, {{5, 2, 1}}, {{2, 2, 2}}, {{1, 1, 2}}, {{4}}, {{2, 1, 3}, {2, 1}}})));
}

}  // namespace

TEST_CASE("case A32: hierarchies of two and three levels are right for every root") {
  const topology hosts = hosts_to_test();
  CHECK_NOTHROW(for_each_root<std::uint64_t>(hosts, [&](auto& checks, std::size_t count, int root) {
    hccl_test::check_reductions<Hierarchies>(checks, hosts.size(), count, root);
    hccl_test::check_spreading<Hierarchies>(checks, hosts.size(), count, root, 2);
    hccl_test::check_personal<Hierarchies>(checks, hosts.size(), count, root, 2);
  }));
}

TEST_CASE("a hierarchy of parts that keep rank order keeps it") {
  using Ordered = std::tuple<Hierarchical<Mesh, Mesh>, Hierarchical<OneShotMesh, OneShotMesh>, Auto>;
  const topology hosts = hosts_to_test();
  CHECK_NOTHROW(for_each_root<hccl_test::Matrix>(hosts, [&](auto& checks, std::size_t count, int root) {
    hccl_test::check_reductions<Ordered>(checks, hosts.size(), count, root);
  }));
  CHECK(hccl_test::can_do<Hierarchical<Mesh, Mesh>, AllReduce, hccl_test::MatrixProduct>);
  CHECK_FALSE(hccl_test::can_do<AHC, AllReduce, hccl_test::MatrixProduct>);
}
