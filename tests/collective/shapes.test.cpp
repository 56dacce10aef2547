// SPDX-License-Identifier: Apache-2.0

// Counts that went wrong elsewhere: odd ones in place, silent ranks, more pieces than elements.

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <tuple>
#include <vector>

using namespace hccl;
using hccl_test::CollectiveChecks, hccl_test::CountMatrix, hccl_test::for_each_algorithm;

namespace {

using Comm = communicator<LocalTransport>;

/// Calls `f(checks)` on each of `ranks` ranks, for checks of up to `most` elements a rank.
template <class F>
void with_checks(int ranks, std::size_t most, F&& f) {
  const hccl_test::Reference<int> world(ranks, most);
  run_local(ranks, [&](Comm& comm) {
    comm.set_timeout(std::chrono::seconds(60));
    CollectiveChecks<int, LocalTransport> checks(comm, world);
    f(checks);
  });
}

/// Every algorithm that offers alltoallv moves what the matrix says, in every form.
void check_exchange(CollectiveChecks<int, LocalTransport>& checks, const CountMatrix& matrix) {
  for_each_algorithm<AllToAllV>([&]<class A>() { checks.check_alltoallv<A>(matrix, 3); });
}

}  // namespace

TEST_CASE("case A3: on one rank every collective is a copy, in place too") {
  using Algorithms = std::tuple<Auto>;
  CHECK_NOTHROW(with_checks(1, 1000, [](auto& checks) {
    for (const std::size_t count : {0u, 1u, 5u, 1000u}) {
      hccl_test::check_reductions<Algorithms>(checks, 1, count, 0);
      hccl_test::check_spreading<Algorithms>(checks, 1, count, 0, 1);
      hccl_test::check_personal<Algorithms>(checks, 1, count, 0, 1);
    }
  }));
}

TEST_CASE("case A5: allgather and all-to-all of odd counts are right in place") {
  for (const int ranks : {2, 3, 5, 6, 7}) {
    CHECK_NOTHROW(with_checks(ranks, 49, [&](auto& checks) {
      for (const std::size_t count : {1u, 3u, 5u, 7u}) {
        for_each_algorithm<AllGather>([&]<class A>() { checks.template check_allgather<A>(count); });
        for_each_algorithm<AllToAll>([&]<class A>() { checks.template check_alltoall<A>(count); });
        CountMatrix matrix(ranks);
        for (int from = 0; from < ranks; ++from) {
          for (int to = 0; to < ranks; ++to) matrix.at(from, to) = (from + to) % 2 == 0 ? count : 1;
        }
        check_exchange(checks, matrix);
      }
    }));
  }
}

TEST_CASE("case A28: alltoallv with silent ranks, of one pair, of nothing, and of the diagonal") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    CHECK_NOTHROW(with_checks(ranks, 100, [&](auto& checks) {
      const CountMatrix nothing(ranks);
      check_exchange(checks, nothing);
      CountMatrix diagonal(ranks);
      for (int r = 0; r < ranks; ++r) diagonal.at(r, r) = static_cast<std::size_t>(r + 2);
      check_exchange(checks, diagonal);
      for (int silent = 0; silent < ranks; ++silent) {
        CountMatrix matrix(ranks);
        for (int from = 0; from < ranks; ++from) {
          for (int to = 0; to < ranks; ++to) {
            if (from != silent && to != silent) matrix.at(from, to) = static_cast<std::size_t>(from + 2 * to);
          }
        }
        check_exchange(checks, matrix);
        CountMatrix pair(ranks);
        pair.at(silent, (silent + 1) % ranks) = 17;
        check_exchange(checks, pair);
      }
    }));
  }
}

TEST_CASE("case A28: 500 random matrices of counts") {
  for (int ranks = 2; ranks <= 7; ++ranks) {
    CHECK_NOTHROW(with_checks(ranks, static_cast<std::size_t>(ranks) * 4000, [&](auto& checks) {
      for (std::size_t i = 0; i < 84; ++i) {
        const std::size_t most = i % 12 == 0 ? 4000 : 1 + i;
        CountMatrix matrix = hccl_test::uneven_matrix(ranks, most);
        const int silent = static_cast<int>(hccl_test::bits_of(ranks, i) % 16);  // often nobody
        for (int other = 0; silent < ranks && other < ranks; ++other) {
          matrix.at(silent, other) = matrix.at(other, silent) = 0;
        }
        check_exchange(checks, matrix);
      }
    }));
  }
}

TEST_CASE("case A34: fewer elements than ranks and pieces") {
  using Segmented = std::tuple<Pipeline, Pipelined<Ring, 8>, Pipelined<Mesh, 3>, Pipelined<NHR, 5>,
                               Pipelined<BinomialTree, 16>, Pipelined<RecursiveDoubling, 4>>;
  STATIC_REQUIRE(Offers<Pipelined<Ring, 8>, AllReduce>);
  STATIC_REQUIRE(Offers<Pipelined<Mesh, 3>, ReduceScatter>);
  for (int ranks = 1; ranks <= 9; ++ranks) {
    CHECK_NOTHROW(with_checks(ranks, static_cast<std::size_t>(ranks * ranks), [&](auto& checks) {
      for (int count = 1; count <= ranks; ++count) {
        const auto size = static_cast<std::size_t>(count);
        hccl_test::check_reductions<Segmented>(checks, ranks, size, count - 1);
        hccl_test::check_spreading<Segmented>(checks, ranks, size, count - 1, 1);
        hccl_test::check_personal<Segmented>(checks, ranks, size, count - 1, 1);
      }
    }));
  }
}
