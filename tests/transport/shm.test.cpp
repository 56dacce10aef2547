// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"
#include "transport/connected.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/shm.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

using hccl_test::outcome_of, hccl_test::Outcome, hccl_test::require;

hccl::ShmTransport alone(const std::string& address) {
  return {hccl::ShmTransport::listener(), 0, 1, {address}};
}

/// Has these system calls fail in this process from now on, as in many containers. Returns whether that was allowed.
bool refuse(std::initializer_list<long> calls, int failure) {
  std::vector<sock_filter> steps{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(failure)));
  }
  steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(steps.size()), steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

TEST_CASE("ranks of several numbers share memory") {
  for (const int ranks : {1, 4, 7, 16}) {
    CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(ranks, [](auto& comm) {
      for (const std::size_t count : {1u, 10'000u, 300'000u}) {
        std::vector<int> data(count, comm.rank());
        hccl::allreduce(comm, data);
        require(data == std::vector(count, comm.size() * (comm.size() - 1) / 2), "a wrong sum");
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
                        const Outcome failure = outcome_of([&] { hccl::barrier(comm); });
                        require(failure.is(hccl::errc::peer_lost), "a killed rank is not peer_lost");
                        require(failure.error->failed_rank() == 1, "another rank is named");
                        require(watch.elapsed() < hccl_test::promptly, "a killed rank is noticed late");
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
    require(spent < 0.2, "waiting a second costs more than 0.2 seconds of processor time");
  }));
}

TEST_CASE("ShmTransport refuses ranks of other hosts") {
  const hccl::ShmTransport::listener own;
  auto other = own.address();
  other[0] = other[0] == 'x' ? 'y' : 'x';
  const Outcome failure = outcome_of([&] {
    const std::vector<std::string> addresses{own.address(), other};
    hccl::ShmTransport(hccl::ShmTransport::listener(), 0, 2, addresses);
  });
  CHECK(failure.is(hccl::errc::unsupported));
  CHECK((failure.error && failure.error->failed_rank() == 1));
  CHECK(failure.says("rank 1"));
}

TEST_CASE("an address that is none is refused") {
  const Outcome failure = outcome_of([] { alone("127.0.0.1:80"); });
  CHECK(failure.is(hccl::errc::invalid_argument));
  CHECK(failure.says("127.0.0.1:80"));
}

TEST_CASE("case D8: too little shared memory is an error that tells how much is needed and allowed") {
  const auto child = ::fork();
  if (child == 0) {
    const rlimit few{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &few);
    const hccl::ShmTransport::listener own;
    const Outcome failure = outcome_of([&] { alone(own.address()); });
    ::_exit(failure.is(hccl::errc::out_of_memory) && failure.says("needs") && failure.says("is 4096") ? 0
                                                                                                      : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("case D10: shared memory needs no leave to read the memory of another process") {
  const auto child = ::fork();
  if (child == 0) {
    const bool is_filtered = refuse({SYS_process_vm_readv, SYS_process_vm_writev}, EPERM) &&
                             ::syscall(SYS_process_vm_readv, ::getpid(), nullptr, 0, nullptr, 0, 0) == -1 &&
                             errno == EPERM;
    const Outcome failure = outcome_of([] {
      hccl::run_processes<hccl::ShmTransport>(3, [](auto& comm) {
        std::vector<int> data(100'000, comm.rank());
        hccl::allreduce(comm, data);
        require(data == std::vector(100'000, 3), "a wrong sum");
      });
    });
    ::_exit(is_filtered && !failure.error ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("whoever is killed, and whenever, the others hear of it and nothing is left") {
  const auto count = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  std::mt19937 random(7);
  constexpr int ranks = 3;
  hccl::shared_vector<std::atomic<std::int64_t>> killed_at(1);
  const auto files = count("/dev/shm"), descriptors = count("/proc/self/fd");
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  for (int attempt = 0; attempt < (hccl_test::under_sanitizer ? 10 : 50); ++attempt) {
    const int victim = static_cast<int>(random() % (ranks + 1));  // or all of them
    const auto moment = std::chrono::microseconds(random() % 20'000);
    killed_at[0] = 0;
    const Outcome outcome = outcome_of([&] {
      hccl::run_processes<hccl::ShmTransport>(ranks, [&](auto& comm) {
        comm.set_timeout(hccl_test::patience);
        std::jthread killer;
        if (comm.rank() == victim || victim == ranks) {
          killer = std::jthread([&] {
            std::this_thread::sleep_for(moment);
            killed_at[0] = now();
            ::raise(SIGKILL);
          });
        }
        hccl::shared_vector<int> shared(100'000);
        std::vector<int> own(100'000);
        const Outcome failure = outcome_of([&] {
          for (;;) {
            hccl::allreduce(comm, own);
            hccl::allreduce(comm, shared);
          }
        });
        if (victim == ranks) std::this_thread::sleep_for(1s);  // its turn comes
        const std::chrono::nanoseconds since(now() - killed_at[0]);
        require(failure.is(hccl::errc::peer_lost), failure.text());
        require(failure.error->failed_rank() == victim, "another rank is named");
        require(since < hccl_test::promptly, "the loss was noticed late");
        std::this_thread::sleep_for(100ms);  // the first failure that is told is that of the victim
      });
    });
    INFO(outcome.text());
    CHECK(outcome.is(hccl::errc::peer_lost));
    CHECK((outcome.error && (victim == ranks || outcome.error->failed_rank() == victim)));
  }
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(ranks, [](auto& comm) { hccl::barrier(comm); }));
  CHECK(count("/dev/shm") == files);
  CHECK(count("/proc/self/fd") == descriptors);
}

TEST_CASE("what a rank frees is given back at once, though others have it mapped") {
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(2, [&](auto& comm) {
    const auto resident = [] {  // kilobytes of shared memory, of this rank and of the other
      std::ifstream lines("/proc/self/smaps");
      long sum = 0;
      bool is_shared = false;
      for (std::string line; std::getline(lines, line);) {
        if (line.find('-') < line.find(' ')) is_shared = line.find("memfd:hccl") != line.npos;
        if (is_shared && line.starts_with("Rss:")) sum += std::stol(line.substr(4));
      }
      return sum;
    };
    constexpr std::size_t count = 4'000'000;  // 15,625 KiB
    hccl::barrier(comm);
    const long before = resident();
    {
      hccl::shared_vector<int> data(count, 1);
      hccl::allreduce(comm, data);
      require(resident() > before + 31'000, "the buffers of both ranks are not mapped");
      hccl::barrier(comm);
    }
    hccl::barrier(comm);
    require(resident() < before + 1000, "memory that was freed has not been given back");
  }));
}

TEST_CASE("a rank that dies while it aborts has aborted, and nobody works in the memory of others any more") {
  std::vector<hccl::ShmTransport::listener> listeners(2);
  const std::vector<std::string> addresses{listeners[0].address(), listeners[1].address()};
  const auto file = hccl::detail::shm_address::read(addresses[0]);
  std::vector<hccl::ShmTransport> nets;
  for (int rank : {0, 1})
    nets.emplace_back(std::move(listeners[static_cast<std::size_t>(rank)]), rank, 2, addresses);
  const auto head = hccl::detail::memory_file::open(file.process, file.fd, file.number)
                        .map(0, sizeof(hccl::detail::shm_head), hccl::detail::population::on_touch);
  reinterpret_cast<hccl::detail::shm_head*>(head.data())->abort = 1;
  nets[0].abort(hccl::error(hccl::errc::timeout, "over", 1));  // comes too late to tell a reason
  for (auto& net : nets) {
    const auto failure = outcome_of([&] { net.visit(); });
    CHECK(failure.is(hccl::errc::aborted));
    CHECK(failure.says("died"));
  }
}

TEST_CASE("any number of shared buffers stays mapped") {
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(2, [](auto& comm) {
    std::vector<hccl::shared_vector<int>> buffers(150, hccl::shared_vector<int>(1000, 1));
    const auto faults = [] {
      rusage used{};
      ::getrusage(RUSAGE_SELF, &used);
      return used.ru_minflt + used.ru_majflt;
    };
    const auto reduce_all = [&] {
      for (auto& each : buffers) hccl::allreduce(comm, each);
    };
    reduce_all();
    const auto before = faults();
    reduce_all();
    require(hccl_test::under_sanitizer || faults() == before, "a buffer was mapped again");
  }));
}

TEST_CASE("a lack of descriptors for shared memory is an error that names the rank and the call") {
  const auto outcome = outcome_of([] {
    hccl::run_processes<hccl::ShmTransport>(2, [](auto& comm) {
      hccl::shared_vector<int> data(100'000);
      // Not by a limit: the sanitizers need descriptors of their own.
      if (comm.rank() == 1) require(refuse({SYS_openat}, EMFILE), "the filter is not allowed");
      hccl::allreduce(comm, data);
    });
  });
  INFO(outcome.text());
  CHECK(outcome.is(hccl::errc::out_of_memory));
  CHECK(outcome.says("rank 1: the buffer of rank 0"));
}

TEST_CASE("shared memory that a rank has freed is not kept mapped by the others") {
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(2, [](auto& comm) {
    const auto mappings = [] {
      std::ifstream maps("/proc/self/maps");
      int count = 0;
      for (std::string line; std::getline(maps, line);) count += line.find("memfd:hccl") != line.npos;
      return count;
    };
    const auto call = [&](std::size_t count) {
      hccl::shared_vector<int> data(count, 1);
      hccl::allreduce(comm, data);
      require(data.back() == 2, "a wrong sum");
    };
    call(100'000);
    const int before = mappings();
    for (std::size_t i = 0; i < 40; ++i) call(100'000 + i);
    require(mappings() <= before + 1, "memory that was freed is still mapped");
  }));
}

TEST_CASE("after two calls of a shape there are no page faults") {
  CHECK_NOTHROW(hccl::run_processes<hccl::ShmTransport>(3, [](auto& comm) {
    const auto faults = [] {
      rusage used{};
      ::getrusage(RUSAGE_SELF, &used);
      return used.ru_minflt + used.ru_majflt;
    };
    const auto check = [&](auto&& data, auto&& call) {
      call(data), call(data);
      const auto before = faults();
      for (int i = 0; i < 30; ++i) call(data);
      require(hccl_test::under_sanitizer || faults() == before, "a page fault");
    };
    for (const std::size_t count : {100u, 3'000u, 30'000u, 1'000'000u}) {
      const auto reduce = [&](auto& data) { hccl::allreduce(comm, data); };
      check(std::vector<int>(count), reduce);
      check(hccl::shared_vector<int>(count), reduce);
      check(std::vector<int>(count),
            [&](auto& data) { hccl::allreduce<int, hccl::Sum, hccl::Ring>(comm, data); });
      check(std::vector<int>(count), [&](auto& data) { hccl::allreduce(comm, data, hccl::Average{}); });
    }
  }));
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
    std::vector<std::jthread> ranks;
    for (auto& net : hccl_test::Connected<hccl::ShmTransport>::make(2)) {
      ranks.emplace_back([net = std::move(net)]() mutable {
        hccl::communicator comm(std::move(net));
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
