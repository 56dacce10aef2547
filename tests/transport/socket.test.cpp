// SPDX-License-Identifier: Apache-2.0

// The transport that docs/write-your-own-transport.md explains.

#include "../../examples/readme/socket_transport.hpp"
#include "collective/errors.hpp"
#include "test.hpp"
#include "timing.hpp"
#include "transport_conformance.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using SocketComm = hccl::communicator<SocketTransport>;
using hccl_test::Outcome, hccl_test::outcome_of;

/// Runs f(comm) on threads; returns what became of each.
template <class F>
std::vector<Outcome> run_ranks(int ranks, F f) {
  const auto world = std::make_shared<SocketWorld>(ranks);
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  std::vector<SocketComm> members;
  for (int rank = 0; rank < ranks; ++rank) members.emplace_back(SocketTransport(world, rank));
  {
    std::vector<std::jthread> threads;
    for (auto& member : members) {
      threads.emplace_back([&f, &outcomes, comm = std::move(member)]() mutable {
        comm.set_timeout(hccl_test::patience);
        outcomes[static_cast<std::size_t>(comm.rank())] = outcome_of([&] { f(comm); });
      });
    }
  }
  return outcomes;
}

template <class Algorithm>
std::size_t wrong_sums(SocketComm& comm, std::size_t count) {
  std::vector<std::int64_t> in(count), out(count, -1);
  for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::int64_t>(i) * 10 + comm.rank();
  hccl::allreduce<std::int64_t, hccl::Sum, Algorithm>(comm, in, out);
  const std::int64_t p = comm.size();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    wrong += out[i] != p * static_cast<std::int64_t>(i) * 10 + p * (p - 1) / 2;
  return wrong;
}

struct SocketHarness {
  static std::vector<SocketTransport> make(int ranks) {
    const auto world = std::make_shared<SocketWorld>(ranks);
    std::vector<SocketTransport> transports;
    for (int rank = 0; rank < ranks; ++rank) transports.emplace_back(world, rank);
    return transports;
  }
};

}  // namespace

TEST_CASE("SocketTransport conforms") { hccl_test::check_conformance<SocketHarness>(); }

TEST_CASE("SocketTransport carries every algorithm") {
  const int ranks = GENERATE(1, 2, 3, 5);
  std::vector<std::size_t> wrong(static_cast<std::size_t>(ranks));
  const auto outcomes = run_ranks(ranks, [&](SocketComm& comm) {
    for (const std::size_t count : {0u, 1u, 1000u, 200'000u}) {
      wrong[static_cast<std::size_t>(comm.rank())] +=
          wrong_sums<hccl::Ring>(comm, count) + wrong_sums<hccl::Mesh>(comm, count) +
          wrong_sums<hccl::RecursiveHalvingDoubling>(comm, count) +
          wrong_sums<hccl::BinomialTree>(comm, count);
    }
  });
  for (const Outcome& o : outcomes) CHECK(o.text() == "");
  CHECK(wrong == std::vector<std::size_t>(wrong.size(), 0));
}

TEST_CASE("SocketTransport keeps tagged messages apart from collectives") {
  std::vector<int> got(2);
  const auto outcomes = run_ranks(2, [&](SocketComm& comm) {
    int mine[] = {comm.rank() + 7}, theirs[] = {0};
    if (comm.rank() == 0) hccl::send(comm, mine, 1, 3);
    hccl::barrier(comm);
    if (comm.rank() == 1) hccl::recv(comm, theirs, 0, 3);
    got[static_cast<std::size_t>(comm.rank())] = theirs[0];
  });
  for (const Outcome& o : outcomes) CHECK(o.text() == "");
  CHECK(got == std::vector{0, 7});
}

TEST_CASE("SocketTransport tells who has left") {
  const auto outcomes = run_ranks(3, [](SocketComm& comm) {
    if (comm.rank() == 2) return;
    hccl::barrier(comm);
  });
  CHECK(outcomes[2].text() == "");
  for (const std::size_t rank : {0u, 1u}) {
    INFO(outcomes[rank].text());
    CHECK((outcomes[rank].is(hccl::errc::peer_lost) || outcomes[rank].is(hccl::errc::aborted)));
    CHECK((outcomes[rank].error && outcomes[rank].error->failed_rank() == 2));
  }
}

TEST_CASE("SocketTransport keeps the deadline") {
  std::latch given_up(1);
  const hccl_test::Stopwatch watch;
  const auto outcomes = run_ranks(2, [&](SocketComm& comm) {
    if (comm.rank() == 1) return given_up.wait();
    comm.set_timeout(50ms);
    const Outcome own = outcome_of([&] { hccl::barrier(comm); });
    given_up.count_down();
    if (own.error) throw hccl::error(*own.error);
  });
  CHECK(outcomes[0].is(hccl::errc::timeout));
  CHECK(watch.elapsed() < hccl_test::promptly);
}

TEST_CASE("SocketTransport wakes up when it is aborted") {
  std::latch begun(1);
  const auto outcomes = run_ranks(2, [&](SocketComm& comm) {
    if (comm.rank() == 0) {
      begun.wait();
      std::this_thread::sleep_for(50ms);
      comm.abort(hccl::error(hccl::errc::aborted, "enough", 0));
    } else {
      begun.count_down();
      hccl::barrier(comm);
    }
  });
  CHECK(outcomes[0].text() == "");
  CHECK(outcomes[1].is(hccl::errc::aborted));
}
