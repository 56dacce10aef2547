// SPDX-License-Identifier: Apache-2.0

// run_processes: what a child's failure becomes, and that nothing is left behind.

#include "test.hpp"
#include "timing.hpp"
#include "transport/tcp_support.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/transport/tcp.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

using namespace hccl_test;
using namespace std::chrono_literals;
using hccl::errc, hccl::error, hccl::run_processes, hccl::TcpTransport;
using Comm = hccl::communicator<TcpTransport>;

namespace {

template <class Body>
error failure_of(int ranks, Body body, const hccl::run_options& options = {}) {
  try {
    run_processes<TcpTransport>(ranks, body, options);
  } catch (const error& e) {
    return e;
  }
  return error(errc::mismatch, "no failure");
}

auto descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

void wait_for_bytes(Comm& comm, int from) {
  VectorSink in(8, false);
  comm.transport().receive(from, in);
  finish(comm.transport(), &in);
}

}  // namespace

TEST_CASE("every rank runs once, in a process of its own") {
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* const sum = new (memory) std::atomic<int>(0);
  const int ranks = GENERATE(1, 2, 5);
  const pid_t parent = ::getpid();
  int touched = 0;
  run_processes<TcpTransport>(ranks, [&](Comm& comm) {
    touched = 1;
    if (comm.size() != ranks || ::getpid() == parent) throw std::runtime_error("not a rank of its own");
    if (!passes_around(comm.transport(), 5000)) throw std::runtime_error("wrong bytes");
    *sum += 1 << comm.rank();
  });
  CHECK(*sum == (1 << ranks) - 1);
  CHECK(touched == 0);
  ::munmap(memory, 4096);
}

TEST_CASE("the failure of a child is thrown with its kind, rank and text") {
  const auto descriptors_before = descriptors();
  SECTION("an error of hccl") {
    const auto e = failure_of(3, [](Comm& comm) {
      if (comm.rank() == 2) throw error(errc::unsupported, "two cannot do it", 2);
      wait_for_bytes(comm, 2);
    });
    CHECK(e.kind() == errc::unsupported);
    CHECK(e.failed_rank() == 2);
    CHECK(std::string(e.what()) == error(errc::unsupported, "rank 2: two cannot do it").what());
  }
  SECTION("another exception") {
    const auto e = failure_of(2, [](Comm& comm) {
      if (comm.rank() == 1) throw std::out_of_range("index 7");
    });
    CHECK(e.kind() == errc::aborted);
    CHECK(e.failed_rank() == 1);
    CHECK(contains(e.what(), "rank 1: index 7"));
  }
  SECTION("a signal, although others report the loss first") {
    const auto e = failure_of(3, [](Comm& comm) {
      passes_around(comm.transport(), 10);
      if (comm.rank() == 1) ::raise(SIGKILL);
      wait_for_bytes(comm, 1);
    });
    CHECK(e.kind() == errc::peer_lost);
    CHECK(e.failed_rank() == 1);
    CHECK(contains(e.what(), "rank 1 was killed by signal 9"));
  }
  SECTION("an exit") {
    const auto e = failure_of(2, [](Comm& comm) {
      if (comm.rank() == 1) ::_exit(3);
    });
    CHECK(e.kind() == errc::peer_lost);
    CHECK(contains(e.what(), "rank 1 exited with code 3"));
  }
  SECTION("too late") {
    const auto e = failure_of(2,
                              [](Comm& comm) {
                                if (comm.rank() == 1) std::this_thread::sleep_for(patience);
                              },
                              {.timeout = 1s});
    CHECK(e.kind() == errc::timeout);
    CHECK(contains(e.what(), "have not ended in time: 1"));
  }
  CHECK_FALSE(has_children());
  CHECK(descriptors() == descriptors_before);
}

TEST_CASE("ranks that do not notice a failure are ended") {
  const Stopwatch watch;
  const auto e = failure_of(3, [](Comm& comm) {
    if (comm.rank() == 0) throw std::runtime_error("zero");
    std::this_thread::sleep_for(patience);
  });
  CHECK(contains(e.what(), "rank 0: zero"));
  CHECK(watch.elapsed() < promptly);
  CHECK_FALSE(has_children());
}

TEST_CASE("no ranks are refused") {
  CHECK(failure_of(0, [](Comm&) {}).kind() == errc::invalid_argument);
}
