// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "collective/matrix_on_processes.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/shm.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using hccl_test::outcome_of, hccl_test::require;
using Net = hccl::ShmTransport;

/// Checks all that Direct offers, for sizes around those where it changes its way.
template <class T, class Allocator>
void check(int ranks, std::set<std::size_t> counts) {
  for (const std::size_t bytes : hccl_test::switch_points_of_direct(ranks)) {
    counts.insert(bytes / sizeof(T));
    counts.insert(bytes / sizeof(T) + 1);
  }
  hccl_test::on_processes<Net, T, Allocator>({ranks}, counts,
                                             [](auto& checks, int, std::size_t count, int root, std::size_t) {
                                               hccl_test::check_direct(checks, count, root);
                                             });
}

/// An element of which a window has no room for one of each rank.
struct Large {
  std::array<std::int32_t, 50'000> values;
};

struct AddLarge {
  static constexpr bool is_commutative = true;
  static constexpr std::string_view name = "AddLarge";

  Large operator()(const Large& x, const Large& y) const {
    Large sum;
    for (std::size_t i = 0; i < x.values.size(); ++i) sum.values[i] = x.values[i] + y.values[i];
    return sum;
  }
};

struct ThrowAtSeven {
  static constexpr bool is_commutative = true;
  static constexpr std::string_view name = "ThrowAtSeven";

  int operator()(int x, int y) const {
    if (x == 7) throw std::domain_error("seven");
    return x + y;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("what Direct does is right on processes with shared buffers", "", float,
                   hccl_test::Matrix) {
  for (const int ranks : hccl_test::process_counts)
    check<TestType, hccl::SharedAllocator<std::byte>>(ranks, {0, 1, 5, 1000, hccl_test::large_count});
  SUCCEED();
}

TEMPLATE_TEST_CASE("what Direct does is right on processes with private buffers", "", float,
                   hccl_test::Matrix) {
  for (const int ranks : hccl_test::process_counts)
    check<TestType, std::allocator<std::byte>>(
        ranks, {0, 1, 5, 1000, 5461, hccl_test::large_count, 4 * hccl_test::large_count});
  SUCCEED();
}

TEST_CASE("Direct goes through windows if one rank has private buffers") {
  for (const int ranks : {2, 3, 5}) {
    CHECK_NOTHROW(hccl::run_processes<Net>(ranks, [](auto& comm) {
      const auto check = [&](auto&& data) {
        data.assign(100'000, 1 + comm.rank());
        hccl::allreduce<int, hccl::Sum, hccl::Direct>(comm, data);
        const int sum = comm.size() * (comm.size() + 1) / 2;
        for (const int x : data) require(x == sum, "a wrong sum");
      };
      for (int turn = 0; turn < 12; ++turn) {  // all, none, one, all but one are private
        const bool is_one = comm.rank() == turn % comm.size();
        if (turn % 4 == 0 || (turn % 4 == 2 && is_one) || (turn % 4 == 3 && !is_one)) {
          check(std::vector<int>());
        } else {
          check(hccl::shared_vector<int>());
        }
      }
    }));
  }
}

TEST_CASE("windows grow with the element, and small elements still go through them") {
  CHECK_NOTHROW(hccl::run_processes<Net>(3, [](auto& comm) {
    std::vector<Large> large(4);
    std::vector<int> small(70'000);
    for (int turn = 0; turn < 3; ++turn) {
      small.assign(small.size(), comm.rank());
      hccl::allreduce<int, hccl::Sum, hccl::Direct>(comm, small);
      for (const int x : small) require(x == 3, "a wrong sum of small elements");
      for (auto& each : large) each.values.fill(comm.rank() + turn);
      hccl::allreduce<Large, AddLarge, hccl::Direct>(comm, large);
      for (const auto& each : large) {
        for (const std::int32_t x : each.values) require(x == 3 + 3 * turn, "a wrong sum of large elements");
      }
    }
  }));
}

TEST_CASE("a reduction that throws while others go through windows ends the call on all ranks") {
  CHECK_NOTHROW(hccl::run_processes<Net>(3, [](auto& comm) {
    comm.set_timeout(hccl_test::patience);
    std::vector<int> data(1'000'000, 1);
    data[500'000] = 7;  // in the part of rank 1, and not in the first chunk
    const auto failure = outcome_of([&] { hccl::allreduce(comm, data, ThrowAtSeven{}); });
    if (comm.rank() == 1) {
      require(failure.other == "seven", failure.text());
    } else {
      require(failure.error && failure.error->failed_rank() == 1, failure.text());
      require(!failure.is(hccl::errc::timeout), failure.text());
    }
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // the others learn it before this rank leaves
  }));
}

TEST_CASE("the first call through windows may be the last one") {
  for (const int ranks : {3, 5}) {
    for (int turn = 0; turn < 10; ++turn) {
      CHECK_NOTHROW(hccl::run_processes<Net>(ranks, [](auto& comm) {
        const auto size = static_cast<std::size_t>(comm.size());
        std::vector<char> in(60'000, static_cast<char>(comm.rank() + 1)), out(in.size() * size);
        hccl::allgather(comm, in, out);
        for (std::size_t r = 0; r < size; ++r) {
          require(out[r * in.size()] == static_cast<char>(r + 1), "another input");
          require(out[(r + 1) * in.size() - 1] == static_cast<char>(r + 1), "another input");
        }
      }));
    }
  }
}
