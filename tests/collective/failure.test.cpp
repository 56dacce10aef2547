// SPDX-License-Identifier: Apache-2.0

// What happens when ranks disagree, come late, leave, abort or throw: an error on every rank, in time.

#include "collective/errors.hpp"
#include "collective/matrix.hpp"
#include "reference.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/collectives.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using hccl::errc;
using namespace hccl_test;
using namespace std::chrono_literals;

namespace {

/// Enough for a rank to give up, and for the others to fall asleep.
constexpr auto a_moment = 60ms;

/// Runs `call` on four ranks, of which some call something else, then a barrier, since a rank that only sends
/// may have left the call before its peers find out.
std::vector<Outcome> outcomes_of_disagreement(const auto& call) {
  return outcomes_of(4, [&](Comm& comm) {
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
  const Stopwatch watch;
  const auto outcomes = outcomes_of_disagreement([&](Comm& comm) {
    comm.set_timeout(a_moment);
    call(comm);
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK((o.is(errc::mismatch) || o.is(errc::timeout)));
  }
  CHECK(watch.elapsed() < promptly);
}

}  // namespace

// --- Ranks that disagree.

TEMPLATE_TEST_CASE("case B1: ranks that disagree about a call all get an error", "", hccl::Ring, hccl::Mesh,
                   hccl::OneShotMesh, hccl::RecursiveHalvingDoubling, hccl::BinomialTree, hccl::Reproducible,
                   hccl::Auto) {
  using A = TestType;
  for (const int odd : {0, 3}) {  // the rank that calls something else
    for (const std::size_t count : {std::size_t{5}, std::size_t{409'600}}) {
      std::vector<Guarded<float>> buffers(4);
      check_mismatch("called with count", [&](Comm& comm) {
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

TEST_CASE("ranks that call another collective or algorithm all learn it") {
  check_mismatch("another collective", [](Comm& comm) {
    std::vector<int> data(8);
    comm.rank() == 3 ? hccl::reduce<int, hccl::Sum, hccl::Mesh>(comm, data, 0)
                     : hccl::allreduce<int, hccl::Sum, hccl::Mesh>(comm, data);
  });
  check_mismatch("another algorithm", [](Comm& comm) {
    std::vector<int> data(8);
    comm.rank() == 0 ? hccl::allreduce<int, hccl::Sum, hccl::OneShotMesh>(comm, data)
                     : hccl::allreduce<int, hccl::Sum, hccl::Mesh>(comm, data);
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
  for (const std::string_view part :
       {"allreduce #2", "x double", "Sum", "ring", "rank 0", "rank 1", "409600", "409598"}) {
    CHECK(both.find(part) != std::string::npos);
  }
}

// --- Ranks that come late, or not at all.

TEST_CASE("every algorithm keeps the deadline when a rank does not come") {
  for_each_algorithm([]<class A>() {
    std::latch given_up(4);
    const Stopwatch watch;
    const auto outcomes = outcomes_of(5, [&](Comm& comm) {
      if (comm.rank() == 1) return given_up.wait();
      std::vector<int> data(1000);
      comm.set_timeout(a_moment);
      const Outcome late = outcome_of([&] { hccl::allreduce<int, hccl::Sum, A>(comm, data); });
      given_up.count_down();
      if (late.error) throw hccl::error(*late.error);
    });
    CHECK(watch.elapsed() >= a_moment);
    CHECK(watch.elapsed() < promptly);
    for (const std::size_t rank : {0u, 2u, 3u, 4u}) {
      INFO(A::name << ": " << outcomes[rank].text());
      CHECK(outcomes[rank].is(errc::timeout));
      CHECK(outcomes[rank].says("waiting for "));
    }
  });
}

TEST_CASE("a timeout names the rank that is late and what was called, and that rank hears of it") {
  std::latch sent(1), given_up(1);
  const Stopwatch watch;
  const auto outcomes = outcomes_of(3, [&](Comm& comm) {
    std::vector<int> data(8);
    if (comm.rank() == 1) given_up.wait();
    if (comm.rank() == 0) {
      sent.wait();
      comm.set_timeout(a_moment);
    }
    const Outcome own = outcome_of([&] { hccl::reduce<int, hccl::Sum, hccl::Star>(comm, data, 0); });
    if (comm.rank() == 2) sent.count_down();
    if (comm.rank() == 0) given_up.count_down();
    if (own.error) throw hccl::error(*own.error);
    hccl::barrier(comm);
  });
  CHECK(watch.elapsed() < promptly);
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::timeout));
    CHECK(o.says("reduce #1 (8 x int32, Sum, star"));
    CHECK(o.says("waiting for rank 1"));
    CHECK((o.error && o.error->failed_rank() == 1));
  }
}

TEST_CASE("a timeout does not name a rank whose message was not asked for yet") {
  std::latch given_up(4);
  const auto outcomes = outcomes_of(5, [&](Comm& comm) {
    std::vector<int> data(8);
    if (comm.rank() == 1) return given_up.wait();
    comm.set_timeout(a_moment);
    const Outcome late = outcome_of([&] { hccl::allreduce<int, hccl::Sum, hccl::Mesh>(comm, data); });
    given_up.count_down();
    throw hccl::error(late.error.value());
  });
  for (const std::size_t rank : {0u, 2u, 3u, 4u}) {
    INFO(outcomes[rank].text());
    CHECK(outcomes[rank].is(errc::timeout));
    CHECK(!outcomes[rank].says("rank 1, "));
  }
}

TEST_CASE("a timeout names the rank that does not take what was sent") {
  std::latch given_up(1);
  const auto outcomes = outcomes_of(2, [&](Comm& comm) {
    std::vector<float> data(100'000);  // more than travels without the receiver
    hccl::barrier(comm);
    if (comm.rank() == 1) return given_up.wait();
    comm.set_timeout(a_moment);
    const Outcome late = outcome_of([&] { hccl::broadcast<float, hccl::BinomialTree>(comm, data); });
    given_up.count_down();
    throw hccl::error(late.error.value());
  });
  INFO(outcomes[0].text());
  CHECK(outcomes[0].is(errc::timeout));
  CHECK(outcomes[0].says("waiting for rank 1 to take what was sent"));
  CHECK((outcomes[0].error && outcomes[0].error->failed_rank() == 1));
}

TEST_CASE("a large message that nobody receives ends at the deadline") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    comm.set_timeout(a_moment);
    const std::vector<int> large(1'000'000);
    hccl::send(comm, large, 1 - comm.rank(), 8);  // both send first
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::timeout));
    CHECK(o.says("tag 8: timed out"));
  }
}

// --- Ranks that leave.

TEST_CASE("every algorithm names a rank that has left") {
  const bool acquainted = GENERATE(true, false);
  for_each_algorithm([&]<class A>() {
    const Stopwatch watch;
    const auto outcomes = outcomes_of(4, [&](Comm& comm) {
      if (acquainted) hccl::barrier(comm);
      std::vector<int> data(1000);
      if (comm.rank() != 2) hccl::allreduce<int, hccl::Sum, A>(comm, data);
    });
    CHECK(watch.elapsed() < promptly);
    CHECK(outcomes[2].text() == "");
    for (const std::size_t rank : {0u, 1u, 3u}) {
      INFO(A::name << ": " << outcomes[rank].text());
      CHECK(outcomes[rank].is(errc::peer_lost));
      CHECK((outcomes[rank].error && outcomes[rank].error->failed_rank() == 2));
    }
  });
}

TEST_CASE("a rank leaves with its communicator, not with its thread") {
  std::latch missed(2);
  const auto outcomes = outcomes_of(3, [&](Comm& comm) {
    if (comm.rank() == 2) {
      {
        const Comm leaves = std::move(comm);
      }
      return missed.wait();
    }
    std::vector<int> data(8);
    const Outcome own = outcome_of([&] { hccl::allreduce<int, hccl::Sum, hccl::Ring>(comm, data); });
    missed.count_down();
    if (own.error) throw hccl::error(*own.error);
  });
  for (const std::size_t rank : {0u, 1u}) {
    INFO(outcomes[rank].text());
    CHECK(outcomes[rank].is(errc::peer_lost));
    CHECK((outcomes[rank].error && outcomes[rank].error->failed_rank() == 2));
  }
}

// --- Ranks that abort or throw.

TEST_CASE("abort from another thread wakes every rank") {
  std::latch begun(3);
  const Stopwatch watch;
  const auto outcomes = outcomes_of(3, [&](Comm& comm) {
    std::vector<int> data(8);
    std::jthread aborter;
    if (comm.rank() == 0) {
      aborter = std::jthread([&] {
        begun.wait();
        std::this_thread::sleep_for(a_moment);
        comm.abort();
      });
    }
    begun.count_down();
    comm.rank() == 1 ? hccl::barrier(comm) : void(hccl::recv(comm, data, comm.rank() == 0 ? 1 : 0));
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::aborted));
  }
  CHECK(watch.elapsed() < promptly);
}

TEST_CASE("after abort a rank that needs no other fails too") {
  hccl::run_local(1, [](Comm& comm) {
    std::vector<int> data(8);
    hccl::allreduce(comm, data);
    comm.abort(hccl::error(errc::aborted, "enough of it"));
    const Outcome failure = outcome_of([&] { hccl::barrier(comm); });
    CHECK(failure.is(errc::aborted));
    CHECK(failure.says("barrier: the communicator was aborted: enough of it"));
    CHECK(outcome_of([&] { hccl::send(comm, data, 0); }).is(errc::aborted));
  });
}

TEST_CASE("memory may be freed as soon as a collective has failed") {
  constexpr std::size_t count = 1 << 20;
  for (int attempt = 0; attempt < 60; ++attempt) {
    const auto outcomes = outcomes_of(3, [&](Comm& comm) {
      std::jthread watchdog;
      if (comm.rank() == 0) {
        watchdog = std::jthread([&comm, attempt] {
          std::this_thread::sleep_for(std::chrono::microseconds(50 * attempt));
          comm.abort();
        });
      }
      while (true) {  // each buffer has pages of its own, which go back to the system with it
        std::vector<float> data(count, 1.0f);
        hccl::allreduce<float, hccl::Sum, hccl::Mesh>(comm, data);
      }
    });
    for (const Outcome& o : outcomes) CHECK(o.is(errc::aborted));
  }
}

TEST_CASE("an exception of a functor ends the collective on all ranks") {
  const auto throwing = [](Comm& comm) {
    std::vector<int> data(8, comm.rank());
    hccl::allreduce<int, std::plus<>, hccl::Mesh>(comm, data);
    hccl::allreduce(comm, data, [&](int a, int b) {
      if (comm.rank() == 1) throw std::domain_error("no sum today");
      return a + b;
    });
    hccl::barrier(comm);
  };
  CHECK_THROWS_AS(hccl::run_local(3, throwing), std::domain_error);
}

TEST_CASE("a lack of memory is told to all ranks") {
  const auto outcomes = outcomes_of(3, [](Comm& comm) {
    std::vector<int> data(8, comm.rank());
    hccl::allreduce(comm, data, [&](int a, int b) {
      if (comm.rank() == 1) throw std::bad_alloc();
      return a + b;
    });
    hccl::barrier(comm);
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::out_of_memory));
    CHECK(o.says("rank 1: allreduce: no memory is left"));
    CHECK((o.error && o.error->failed_rank() == 1));
  }
}

TEST_CASE("run_local rethrows what failed first, and refuses no ranks") {
  const auto fails = [](Comm& comm) {
    if (comm.rank() == 2) throw std::domain_error("enough");
    hccl::barrier(comm);
  };
  const Stopwatch watch;
  CHECK_THROWS_AS(hccl::run_local(3, fails), std::domain_error);
  CHECK(watch.elapsed() < promptly);
  CHECK_THROWS_AS(hccl::run_local(0, [](Comm&) {}), hccl::error);
}

TEST_CASE("after a failure every call says so") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    std::vector<int> data(comm.rank() == 0 ? 1u : 2u);
    if (!outcome_of([&] { hccl::allreduce(comm, data); }).error) return;
    hccl::barrier(comm);
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::aborted));
    CHECK(o.says("failed before"));
  }
}

// --- Misuse.

TEST_CASE("a second thread on a communicator is an error, and disturbs nobody") {
  std::vector<Outcome> seconds;
  const auto outcomes = outcomes_of(2, [&](Comm& comm) {
    const auto intruding_sum = [&](int a, int b) {
      if (comm.rank() == 0) {
        std::jthread([&] { seconds.push_back(outcome_of([&] { hccl::barrier(comm); })); }).join();
      }
      return a + b;
    };
    std::vector<int> data(8, 1);
    hccl::allreduce<int, decltype(intruding_sum), hccl::Mesh>(comm, data, intruding_sum);
    if (data != std::vector<int>(8, 2)) throw std::logic_error("the second thread was let in");
    hccl::barrier(comm);
  });
  for (const Outcome& o : outcomes) CHECK(o.text() == "");
  CHECK_FALSE(seconds.empty());
  CHECK(std::ranges::all_of(seconds, [](const Outcome& o) { return o.is(errc::invalid_argument); }));
}

TEST_CASE("what is held for tags that nobody asks for is bounded") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    if (comm.rank() == 0) {
      const std::vector<std::uint8_t> data(std::size_t{100} << 20);
      for (int i = 0; i < 3; ++i) hccl::send(comm, data, 1, 1);
    } else {
      std::vector<std::uint8_t> data(1);
      hccl::recv(comm, data, 0, 2);
    }
  });
  INFO(outcomes[1].text());
  CHECK(outcomes[1].is(errc::out_of_memory));
  CHECK(outcomes[1].says("from rank 0 under tag 1"));
  CHECK(outcomes[0].is(errc::out_of_memory));  // the sender hears of it
}
