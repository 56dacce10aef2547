// SPDX-License-Identifier: Apache-2.0

// A rank that does not come, leaves or gives up: in every algorithm the others end in time, with the reason.

#include "collective/errors.hpp"
#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

using hccl::errc;
using hccl_test::Comm, hccl_test::Outcome, hccl_test::outcome_of, hccl_test::outcomes_of;
using namespace std::chrono_literals;

namespace {

auto elapsed_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::steady_clock::now() - start;
}

}  // namespace

TEST_CASE("every algorithm keeps the deadline when a rank does not come") {
  hccl_test::for_each_algorithm([]<class A>() {
    std::atomic<int> waiting = 4;
    const auto start = std::chrono::steady_clock::now();
    const auto outcomes = outcomes_of(5, [&](Comm& comm) {
      std::vector<int> data(1000);
      if (comm.rank() == 1) {
        while (waiting > 0) std::this_thread::sleep_for(1ms);
        return;
      }
      comm.set_timeout(60ms);
      const Outcome late = outcome_of([&] { hccl::allreduce<int, hccl::Sum, A>(comm, data); });
      --waiting;
      if (late.error) throw hccl::error(*late.error);
    });
    CHECK(elapsed_since(start) >= 60ms);
    CHECK(elapsed_since(start) < 2s);
    for (const std::size_t rank : {0u, 2u, 3u, 4u}) {
      INFO(A::name << ": " << outcomes[rank].text());
      CHECK(outcomes[rank].is(errc::timeout));
      CHECK(outcomes[rank].says("waiting for "));
    }
  });
}

TEST_CASE("a rank that comes late hears that the others have given up") {
  std::atomic<int> waiting = 3;
  const auto outcomes = outcomes_of(4, [&](Comm& comm) {
    std::vector<float> data(1000);
    hccl::barrier(comm);
    if (comm.rank() == 2) {
      while (waiting > 0) std::this_thread::sleep_for(1ms);
    } else {
      comm.set_timeout(60ms);
    }
    const Outcome late = outcome_of([&] { hccl::allreduce<float, hccl::Sum, hccl::Mesh>(comm, data); });
    --waiting;
    throw hccl::error(late.error.value());
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::timeout));
    CHECK(o.says("waiting for rank 2"));
    CHECK((o.error && o.error->failed_rank() == 2));
  }
}

TEST_CASE("every algorithm names a rank that has left") {
  hccl_test::for_each_algorithm([]<class A>() {
    const auto start = std::chrono::steady_clock::now();
    const auto outcomes = outcomes_of(4, [](Comm& comm) {
      hccl::barrier(comm);
      std::vector<int> data(1000);
      if (comm.rank() != 2) hccl::allreduce<int, hccl::Sum, A>(comm, data);
    });
    CHECK(elapsed_since(start) < 1s);
    for (const std::size_t rank : {0u, 1u, 3u}) {
      INFO(A::name << ": " << outcomes[rank].text());
      CHECK(outcomes[rank].is(errc::peer_lost));
      CHECK((outcomes[rank].error && outcomes[rank].error->failed_rank() == 2));
    }
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

TEST_CASE("a large message that nobody receives ends at the deadline") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    comm.set_timeout(50ms);
    const std::vector<int> large(1'000'000);
    hccl::send(comm, large, 1 - comm.rank(), 8);  // both send first
  });
  for (const Outcome& o : outcomes) {
    INFO(o.text());
    CHECK(o.is(errc::timeout));
    CHECK(o.says("tag 8: timed out"));
  }
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

TEST_CASE("run_local rethrows what failed first, and refuses no ranks") {
  const auto fails = [](Comm& comm) {
    if (comm.rank() == 2) throw std::domain_error("enough");
    hccl::barrier(comm);
  };
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(hccl::run_local(3, fails), std::domain_error);
  CHECK(elapsed_since(start) < 2s);
  CHECK_THROWS_AS(hccl::run_local(0, [](Comm&) {}), hccl::error);
}
