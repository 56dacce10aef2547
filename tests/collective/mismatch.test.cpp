// SPDX-License-Identifier: Apache-2.0

// Ranks that call different things: an error on every rank that says both, and no byte beside a buffer.

#include "collective/errors.hpp"
#include "collective/matrix.hpp"
#include "reference.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using hccl::errc;
using hccl_test::Comm, hccl_test::Guarded, hccl_test::Outcome, hccl_test::outcomes_of;

namespace {

/// Runs `call` on four ranks, of which some call something else, then a barrier: a rank that only sends may
/// have left the call before its peers find out. Each rank must hear of it, and one of both sides.
void check_mismatch(std::string_view what, const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  const auto outcomes = outcomes_of(4, [&](Comm& comm) {
    call(comm);
    hccl::barrier(comm);
  });
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  for (const Outcome& o : outcomes) {
    INFO(what << ": " << o.text());
    CHECK(o.is(errc::mismatch));
    CHECK(o.says(what));
    CHECK(o.says("rank "));
  }
}

template <class F>
void for_each_in_both_roles(F&& f) {
  for (const int odd : {0, 3}) f(odd);
}

}  // namespace

TEMPLATE_TEST_CASE("case B1: ranks that disagree about a call all get an error", "", hccl::Ring, hccl::Mesh,
                   hccl::RecursiveHalvingDoubling, hccl::BinomialTree, hccl::Auto) {
  using A = TestType;
  for_each_in_both_roles([](int odd) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{409'600}}) {
      std::vector<Guarded<float>> buffers(4);
      check_mismatch("count", [&](Comm& comm) {
        Guarded<float>& mine = buffers[static_cast<std::size_t>(comm.rank())];
        mine.reset(comm.rank() == odd ? count : count - 2);
        hccl::allreduce<float, hccl::Sum, A>(comm, mine.span());
      });
      for (const auto& b : buffers) CHECK(b.guards_stand());
    }
    check_mismatch("another element type", [&](Comm& comm) {
      std::vector<float> floats(100);
      std::vector<std::int32_t> integers(100);
      comm.rank() == odd ? hccl::allreduce<float, hccl::Sum, A>(comm, floats)
                         : hccl::allreduce<std::int32_t, hccl::Sum, A>(comm, integers);
    });
    check_mismatch("another reduction", [&](Comm& comm) {
      std::vector<float> data(100);
      comm.rank() == odd ? hccl::allreduce<float, hccl::Max, A>(comm, data)
                         : hccl::allreduce<float, hccl::Sum, A>(comm, data);
    });
    check_mismatch("root", [&](Comm& comm) {
      std::vector<float> data(100);
      hccl::reduce<float, hccl::Sum, A>(comm, data, comm.rank() == odd ? 1 : 2);
    });
    check_mismatch("another collective", [&](Comm& comm) {
      std::vector<float> data(100);
      comm.rank() == odd ? hccl::broadcast<float, A>(comm, data)
                         : hccl::allreduce<float, hccl::Sum, A>(comm, data);
    });
  });
}

TEST_CASE("ranks that choose different algorithms get an error") {
  for_each_in_both_roles([](int odd) {
    check_mismatch("another algorithm", [&](Comm& comm) {
      std::vector<float> data(100);
      comm.rank() == odd ? hccl::allreduce<float, hccl::Sum, hccl::Mesh>(comm, data)
                         : hccl::allreduce<float, hccl::Sum, hccl::Reproducible>(comm, data);
    });
  });
}

TEST_CASE("a rank that has skipped a call is found out at the next one") {
  check_mismatch("", [](Comm& comm) {
    std::vector<int> data(10);
    if (comm.rank() != 2) hccl::allreduce<int, hccl::Sum, hccl::Ring>(comm, data);
  });
}

TEST_CASE("the text of a mismatch holds the call, both ranks and both values") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    std::vector<double> data(comm.rank() == 0 ? 409'600 : 409'598);
    hccl::barrier(comm);
    hccl::allreduce<double, hccl::Sum, hccl::Ring>(comm, data);
  });
  const std::string both = outcomes[0].text() + outcomes[1].text();
  INFO(both);
  for (const std::string_view part : {"allreduce #2", "409600 x double", "Sum", "ring", "rank 0", "rank 1", "409598"}) {
    CHECK(both.find(part) != std::string::npos);
  }
}
