// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "collective/matrix.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/collectives.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using hccl::Direct, hccl_test::outcome_of;

}  // namespace

TEMPLATE_TEST_CASE("what Direct does is right", "", HCCLPP_TEST_ELEMENTS) {
  for (const int ranks : hccl_test::rank_counts) {
    auto counts = hccl_test::counts_for(ranks);
    for (const std::size_t bytes : hccl_test::switch_points_of_direct(ranks)) {
      for (const std::size_t less : {0u, 1u, 2u}) counts.insert(bytes / sizeof(TestType) + 1 - less);
    }
    counts.insert(9001);
    CHECK_NOTHROW(hccl_test::on_threads<TestType>(ranks, counts,
                                                  [](auto& checks, std::size_t count, int root, std::size_t) {
                                                    hccl_test::check_direct(checks, count, root);
                                                  }));
  }
}

TEST_CASE("Direct reduces in rank order") {
  hccl::run_local(5, [](auto& comm) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{50'000}}) {
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
  for (const std::size_t count : {4u, 40'000u}) {
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
    for (std::size_t count = 1; count < 8000; count += 67) {
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

TEST_CASE("Direct stops in the middle when another rank gives up") {
  struct Large {
    int values[256];
  };
  struct Add {
    bool is_slow;
    Large operator()(Large a, const Large& b) const {
      if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      a.values[0] += b.values[0];
      return a;
    }
  };
  const hccl_test::Stopwatch watch;
  const auto outcomes = hccl_test::outcomes_of(2, [](hccl_test::Comm& comm) {
    comm.set_timeout(std::chrono::milliseconds(100));
    std::vector<Large> data(2000);
    hccl::allreduce<Large, Add, Direct>(comm, data, Add{comm.rank() == 1});
  });
  CHECK(outcomes[0].is(hccl::errc::timeout));
  CHECK(outcomes[1].is(hccl::errc::timeout));
  CHECK(watch.elapsed() < hccl_test::promptly);
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
      std::vector<int> data(40'000, comm.rank());
      hccl::allreduce<int, Thrower, Direct>(comm, data);
    });
    FAIL("no error");
  } catch (const std::exception&) {
    SUCCEED();
  }
}

TEST_CASE("ranks that need nothing from others do not wait for them, and are ahead by one call at most") {
  std::atomic<int> ahead = 0;
  CHECK_NOTHROW(hccl::run_local(3, [&](auto& comm) {
    comm.set_timeout(hccl_test::patience);
    const auto wait_for = [&](int many) {
      while (ahead < many) std::this_thread::yield();
    };
    std::vector<int> data(100, comm.rank() + 1), sum(100);
    if (comm.rank() != 0) wait_for(1);
    hccl::broadcast<int, Direct>(comm, data, 0);
    if (comm.rank() == 0) ahead = 1;
    if (data != std::vector(100, 1)) throw std::runtime_error("another input");

    hccl::barrier(comm);
    if (comm.rank() == 0) wait_for(3);
    hccl::reduce<int, hccl::Sum, Direct>(comm, data, sum, 0);
    if (comm.rank() != 0) ++ahead;
    if (comm.rank() == 0 && sum != std::vector(100, 3)) throw std::runtime_error("a wrong sum");

    for (int turn = 0; turn < 500; ++turn) {
      data.assign(100, comm.rank() == turn % 3 ? turn : -1);
      hccl::broadcast<int, Direct>(comm, data, turn % 3);
      if (data != std::vector(100, turn)) throw std::runtime_error("the input of another call");
    }
  }));
}

TEST_CASE("a rank that went ahead learns at its next call that another has left, or does not come") {
  std::atomic<int> right = 0;
  for (const bool comes : {false, true}) {
    CHECK_NOTHROW([&] {
      hccl::run_local(2, [&](auto& comm) {
        comm.set_timeout(std::chrono::milliseconds(100));
        std::vector<int> data(10);
        if (comm.rank() == 1) {
          if (!comes) return;
          std::this_thread::sleep_for(std::chrono::seconds(1));
          return;
        }
        hccl::broadcast<int, Direct>(comm, data, 0);
        const auto next = outcome_of([&] { hccl::broadcast<int, Direct>(comm, data, 0); });
        right +=
            next.is(comes ? hccl::errc::timeout : hccl::errc::peer_lost) && next.error->failed_rank() == 1;
      });
    }());
  }
  CHECK(right == 2);
}

TEST_CASE("ranks that disagree about a call in which nobody waits learn it at the next one") {
  const auto fails = [](auto&& disagree) {
    const auto outcomes = hccl_test::outcomes_of(3, [&](auto& comm) {
      std::vector<int> data(4, comm.rank()), sum(4);
      disagree(comm, data, sum);
      for (int root = 0; root < 3; ++root) hccl::broadcast<int, Direct>(comm, data, root);
    });
    return std::ranges::all_of(outcomes, [](const auto& o) { return o.error.has_value(); }) &&
           std::ranges::any_of(outcomes, [](const auto& o) { return o.is(hccl::errc::mismatch); });
  };
  CHECK(fails([](auto& comm, auto& data, auto&) {
    hccl::broadcast<int, Direct>(comm, data, comm.rank() == 1 ? 1 : 0);
  }));
  CHECK(fails([](auto& comm, auto& data, auto& sum) {
    hccl::reduce<int, hccl::Sum, Direct>(comm, data, sum, (comm.rank() + 1) % 3);
  }));
  CHECK(fails([](auto& comm, auto& data, auto& sum) {
    if (comm.rank() == 0) return hccl::broadcast<int, Direct>(comm, data, 0);
    hccl::reduce<int, hccl::Sum, Direct>(comm, data, sum, 0);
  }));
}
