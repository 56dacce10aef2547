// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "timing.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/transport/shm.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

void expect(bool condition, std::string_view what) {
  if (!condition) throw std::runtime_error(std::string(what));
}

hccl::error failure_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const hccl::error& e) {
    return e;
  }
  throw std::runtime_error("nothing was thrown");
}

bool says(const hccl::error& e, std::string_view part) {
  return std::string_view(e.what()).find(part) != std::string_view::npos;
}

hccl::ShmTransport alone(const std::string& address) {
  return {hccl::ShmTransport::listener(), 0, 1, {address}};
}

}  // namespace

TEST_CASE("ranks of several numbers share memory") {
  for (const int ranks : {1, 4, 7, 16}) {
    CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(ranks, [](auto& comm) {
      for (const std::size_t count : {1u, 10'000u, 300'000u}) {
        std::vector<int> data(count, comm.rank());
        hccl::allreduce(comm, data);
        expect(data == std::vector(count, comm.size() * (comm.size() - 1) / 2), "a wrong sum");
      }
    }));
  }
}

TEST_CASE("ranks that share memory are told when one is killed") {
  CHECK_THROWS_AS(hccl::run_processes<hccl::ShmTransport>(
                      3,
                      [](auto& comm) {
                        comm.set_timeout(hccl_test::patience);
                        hccl::barrier(comm);
                        if (comm.rank() == 1) ::raise(SIGKILL);
                        const hccl_test::Stopwatch watch;
                        const auto failure = failure_of([&] { hccl::barrier(comm); });
                        expect(failure.kind() == hccl::errc::peer_lost, "a killed rank is not peer_lost");
                        expect(failure.failed_rank() == 1, "another rank is named");
                        expect(watch.elapsed() < hccl_test::promptly, "a killed rank is noticed late");
                        std::this_thread::sleep_for(100ms);
                      }),
                  hccl::error);
}

TEST_CASE("a rank that is stopped is only slow") {
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(2, [](auto& comm) {
    comm.set_timeout(hccl_test::patience);
    hccl::barrier(comm);
    if (comm.rank() == 1) {
      const auto self = ::getpid();
      if (::fork() == 0) {  // wakes it again
        std::this_thread::sleep_for(700ms);
        ::kill(self, SIGCONT);
        ::_exit(0);
      }
      ::raise(SIGSTOP);
    }
    hccl::barrier(comm);
    if (comm.rank() == 1) ::wait(nullptr);
  }));
}

TEST_CASE("case D12: waiting for shared memory costs no processor time") {
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(2, [](auto& comm) {
    hccl::barrier(comm);
    if (comm.rank() == 1) std::this_thread::sleep_for(1s);
    const std::clock_t before = std::clock();
    hccl::barrier(comm);
    const auto spent = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    expect(spent < 0.2, "waiting a second costs more than 0.2 seconds of processor time");
  }));
}

TEST_CASE("ShmTransport refuses ranks of other hosts") {
  const hccl::ShmTransport::listener own;
  auto other = own.address();
  other[0] = other[0] == 'x' ? 'y' : 'x';
  const auto failure = failure_of([&] {
    const std::vector<std::string> addresses{own.address(), other};
    hccl::ShmTransport(hccl::ShmTransport::listener(), 0, 2, addresses);
  });
  CHECK(failure.kind() == hccl::errc::unsupported);
  CHECK(failure.failed_rank() == 1);
  CHECK(says(failure, "rank 1"));
}

TEST_CASE("an address that is none is refused") {
  const auto failure = failure_of([] { alone("127.0.0.1:80"); });
  CHECK(failure.kind() == hccl::errc::invalid_argument);
  CHECK(says(failure, "127.0.0.1:80"));
}

TEST_CASE("case D8: too little shared memory is an error that tells how much is needed and allowed") {
  const auto child = ::fork();
  if (child == 0) {
    const rlimit few{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &few);
    const hccl::ShmTransport::listener own;
    const auto failure = failure_of([&] { alone(own.address()); });
    ::_exit(failure.kind() == hccl::errc::out_of_memory && says(failure, "needs") && says(failure, "is 4096")
                ? 0
                : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("200 worlds of shared memory leave no descriptor and no mapping behind") {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  const auto cycle = [] {
    std::vector<hccl::ShmTransport::listener> own(2);
    const std::vector<std::string> addresses{own[0].address(), own[1].address()};
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank] {
        hccl::communicator comm(
            hccl::ShmTransport(std::move(own[static_cast<std::size_t>(rank)]), rank, 2, addresses));
        hccl::barrier(comm);
      });
    }
  };
  cycle();
  const auto first_descriptors = descriptors(), first_mappings = mappings();
  for (int i = 0; i < 200; ++i) cycle();
  CHECK(descriptors() == first_descriptors);
  if (hccl_test::under_sanitizer) return;   // which maps memory of its own
  CHECK(mappings() <= first_mappings + 8);  // stacks of threads that the library of threads keeps
}
