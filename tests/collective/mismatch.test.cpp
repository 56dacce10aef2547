// SPDX-License-Identifier: Apache-2.0

// case B1: ranks that call different things. Every rank gets an error within its timeout, in every algorithm,
// and nothing is written beside a buffer.

#include "collective/errors.hpp"
#include "collective/matrix.hpp"
#include "reference.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using hccl::errc;
using hccl_test::Comm, hccl_test::Guarded, hccl_test::Outcome, hccl_test::outcomes_of;

namespace {

/// Runs `call` on four ranks, of which some call something else, then a barrier, since a rank that only sends
/// may have left the call before its peers find out.
std::vector<Outcome> outcomes_of_disagreement(const auto& call) {
  return outcomes_of(4, [&](Comm& comm) {
    comm.set_timeout(std::chrono::milliseconds(200));
    call(comm);
    hccl::barrier(comm);
  });
}

/// Each rank hears what the others called: messages flow whatever is called.
void check_mismatch(std::string_view what, const auto& call) {
  for (const Outcome& o : outcomes_of_disagreement(call)) {
    INFO(what << ": " << o.text());
    CHECK(o.is(errc::mismatch));
    CHECK(o.says(what));
  }
}

/// Each rank fails in time: two ranks may wait for each other, and nobody's message tells of the difference.
void check_failure(const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  for (const Outcome& o : outcomes_of_disagreement(call)) {
    INFO(o.text());
    CHECK((o.is(errc::mismatch) || o.is(errc::timeout)));
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
}

}  // namespace

TEMPLATE_TEST_CASE("case B1: ranks that disagree about a call all get an error", "", hccl::Ring, hccl::Mesh,
                   hccl::OneShotMesh, hccl::RecursiveHalvingDoubling, hccl::BinomialTree, hccl::Reproducible,
                   hccl::Auto) {
  using A = TestType;
  for (const int odd : {0, 3}) {  // the rank that calls something else
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
    check_failure([&](Comm& comm) {
      std::vector<float> data(100);
      hccl::reduce<float, hccl::Sum, A>(comm, data, comm.rank() == odd ? 1 : 2);
    });
    check_failure([&](Comm& comm) {
      std::vector<float> data(100);
      comm.rank() == odd ? hccl::broadcast<float, A>(comm, data)
                         : hccl::allreduce<float, hccl::Sum, A>(comm, data);
    });
    check_failure([&](Comm& comm) {
      std::vector<float> data(100);
      if (comm.rank() != odd) hccl::allreduce<float, hccl::Sum, A>(comm, data);
    });
  }
}

TEST_CASE("the text of a mismatch holds the call, both ranks and both values") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    std::vector<double> data(comm.rank() == 0 ? 409'600 : 409'598);
    hccl::barrier(comm);
    hccl::allreduce<double, hccl::Sum, hccl::Ring>(comm, data);
  });
  const std::string both = outcomes[0].text() + outcomes[1].text();
  INFO(both);
  for (const std::string_view part :
       {"allreduce #2", "x double", "Sum", "ring", "rank 0", "rank 1", "409600", "409598"}) {
    CHECK(both.find(part) != std::string::npos);
  }
}
