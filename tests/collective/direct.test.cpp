// SPDX-License-Identifier: Apache-2.0

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using hccl::Direct;

/// Checks all that Direct offers.
template <class T>
void check_all(int ranks, const std::set<std::size_t>& counts) {
  hccl_test::on_threads<T>(ranks, counts, [](auto& checks, std::size_t count, int root, std::size_t) {
    checks.template check_allreduce<Direct>(count);
    checks.template check_reduce<Direct>(count, root);
    checks.template check_reduce_scatter<Direct>(count);
    checks.template check_broadcast<Direct>(count, root);
    checks.template check_allgather<Direct>(count);
    checks.template check_alltoall<Direct>(count);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("what Direct does is right", "", HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts) {
    auto counts = hccl_test::counts_for(ranks);
    for (const std::size_t size : {960u, 968u, 976u})
      counts.insert(size / sizeof(TestType));  // about what a note holds
    counts.insert(9001);
    CHECK_NOTHROW(check_all<TestType>(ranks, counts));
  }
}

TEST_CASE("Direct reduces in rank order") {
  hccl::run_local(5, [](auto& comm) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{5000}}) {
      std::vector<float> data(count, static_cast<float>(comm.rank()) * 1e8f + 1.0f), one(count), two(count);
      hccl::allreduce<float, hccl::Sum, Direct>(comm, data, one);
      hccl::allreduce<float, hccl::Sum, Direct>(comm, data, two);
      float expected = 0;
      for (int r = 0; r < comm.size(); ++r) {
        const float term = static_cast<float>(r) * 1e8f + 1.0f;
        expected = r == 0 ? term : expected + term;
      }
      if (one != std::vector(count, expected) || one != two) throw std::runtime_error("another order");
    }
  });
}

TEST_CASE("Direct finds out who called something else") {
  for (const std::size_t count : {std::size_t{4}, std::size_t{4000}}) {
    try {
      hccl::run_local(3, [&](auto& comm) {
        std::vector<int> data(comm.rank() == 2 ? count + 1 : count);
        hccl::allreduce<int, hccl::Sum, Direct>(comm, data);
      });
      FAIL("no error");
    } catch (const hccl::error& e) {
      CHECK(e.kind() == hccl::errc::mismatch);
    }
  }
}

TEMPLATE_TEST_CASE("one rank that runs a schedule where the others are direct is a mismatch", "", hccl::Ring,
                   hccl::BinomialTree) {
  const auto disagree = []<class One, class Others>(int one) {
    try {
      hccl::run_local(4, [one](auto& comm) {
        comm.set_timeout(hccl_test::patience);
        std::vector<int> data(5000);
        comm.rank() == one ? hccl::allreduce<int, hccl::Sum, One>(comm, data)
                           : hccl::allreduce<int, hccl::Sum, Others>(comm, data);
      });
      FAIL("no error");
    } catch (const hccl::error& e) {
      CHECK(e.kind() == hccl::errc::mismatch);
    }
  };
  for (const int one : {0, 3}) {
    disagree.template operator()<TestType, Direct>(one);
    disagree.template operator()<Direct, TestType>(one);
  }
}

TEST_CASE("Direct and schedules take turns") {
  CHECK_NOTHROW(hccl::run_local(5, [](auto& comm) {
    comm.set_timeout(hccl_test::patience);
    for (std::size_t count = 1; count < 2000; count += 17) {
      std::vector<int> data(count, 1);
      hccl::allreduce<int, hccl::Sum, Direct>(comm, data);
      hccl::allreduce<int, hccl::Sum, hccl::Ring>(comm, data);
      hccl::barrier(comm);
      hccl::allreduce<int, hccl::Sum, hccl::BinomialTree>(comm, data);
      if (data != std::vector(count, 125)) throw std::runtime_error("a wrong sum");
    }
  }));
}

TEST_CASE("Direct tells which rank does not come") {
  hccl::run_local(3, [](auto& comm) {
    std::vector<int> data(5000);
    comm.set_timeout(std::chrono::milliseconds(50));
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return;
    }
    try {
      hccl::allreduce<int, hccl::Sum, Direct>(comm, data);
    } catch (const hccl::error& e) {
      if (e.kind() != hccl::errc::timeout || e.failed_rank() != 1) throw;
      return;
    }
    throw std::runtime_error("no error");
  });
}

TEST_CASE("Direct lets nobody go whose memory is in use when a reduction throws") {
  struct Thrower {
    int operator()(int a, int b) const {
      if (a + b == 3) throw std::runtime_error("three");
      return a + b;
    }
  };
  try {
    hccl::run_local(4, [](auto& comm) {
      std::vector<int> data(4000, comm.rank());
      hccl::allreduce<int, Thrower, Direct>(comm, data);
    });
    FAIL("no error");
  } catch (const std::exception&) {
    SUCCEED();
  }
}
