// SPDX-License-Identifier: Apache-2.0

// The transport that docs/write-your-own-transport.md explains.

#include "../../examples/readme/socket_transport.hpp"
#include "test.hpp"
#include "transport_conformance.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using Comm = hccl::communicator<SocketTransport>;

/// Runs f(comm) on threads; returns what each has thrown.
template <class F>
std::vector<std::exception_ptr> run_ranks(int ranks, F f) {
  const auto world = std::make_shared<SocketWorld>(ranks);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<Comm> members;
  for (int rank = 0; rank < ranks; ++rank) members.emplace_back(SocketTransport(world, rank));
  {
    std::vector<std::jthread> threads;
    for (auto& member : members) {
      threads.emplace_back([&f, &thrown, comm = std::move(member)]() mutable {
        comm.set_timeout(20s);
        try {
          f(comm);
        } catch (...) {
          thrown[static_cast<std::size_t>(comm.rank())] = std::current_exception();
        }
      });
    }
  }
  return thrown;
}

hccl::error error_of(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const hccl::error& e) {
    return e;
  }
  return {hccl::errc::unsupported, "nothing was thrown"};
}

template <class Algorithm>
std::size_t wrong_sums(Comm& comm, std::size_t count) {
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
  const auto thrown = run_ranks(ranks, [&](Comm& comm) {
    for (const std::size_t count : {0u, 1u, 1000u, 200'000u}) {
      wrong[static_cast<std::size_t>(comm.rank())] +=
          wrong_sums<hccl::Ring>(comm, count) + wrong_sums<hccl::Mesh>(comm, count) +
          wrong_sums<hccl::RecursiveHalvingDoubling>(comm, count) +
          wrong_sums<hccl::BinomialTree>(comm, count);
    }
  });
  for (const auto& t : thrown) CHECK(t == nullptr);
  CHECK(wrong == std::vector<std::size_t>(wrong.size(), 0));
}

TEST_CASE("SocketTransport keeps tagged messages apart from collectives") {
  std::vector<int> got(2);
  const auto thrown = run_ranks(2, [&](Comm& comm) {
    int mine[] = {comm.rank() + 7}, theirs[] = {0};
    if (comm.rank() == 0) hccl::send(comm, mine, 1, 3);
    hccl::barrier(comm);
    if (comm.rank() == 1) hccl::recv(comm, theirs, 0, 3);
    got[static_cast<std::size_t>(comm.rank())] = theirs[0];
  });
  for (const auto& t : thrown) CHECK(t == nullptr);
  CHECK(got == std::vector{0, 7});
}

TEST_CASE("SocketTransport tells who has left") {
  const auto thrown = run_ranks(3, [](Comm& comm) {
    if (comm.rank() == 2) return;
    hccl::barrier(comm);
  });
  CHECK(thrown[2] == nullptr);
  for (const std::size_t rank : {0u, 1u}) {
    const auto e = error_of(thrown[rank]);
    CHECK((e.kind() == hccl::errc::peer_lost || e.kind() == hccl::errc::aborted));
    CHECK(e.failed_rank() == 2);
  }
}

TEST_CASE("SocketTransport keeps the deadline") {
  const auto begin = std::chrono::steady_clock::now();
  const auto thrown = run_ranks(2, [](Comm& comm) {
    if (comm.rank() == 1) return std::this_thread::sleep_for(500ms);
    comm.set_timeout(50ms);
    hccl::barrier(comm);
  });
  CHECK(error_of(thrown[0]).kind() == hccl::errc::timeout);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("SocketTransport wakes up when it is aborted") {
  const auto thrown = run_ranks(2, [](Comm& comm) {
    if (comm.rank() == 0) {
      std::this_thread::sleep_for(50ms);
      comm.abort(hccl::error(hccl::errc::aborted, "enough", 0));
    } else {
      hccl::barrier(comm);
    }
  });
  CHECK(thrown[0] == nullptr);
  CHECK(error_of(thrown[1]).kind() == hccl::errc::aborted);
}
