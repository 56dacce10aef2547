// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forked processes, by rank, that report how they failed. Linux.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace hccl::inline v0::detail {

/// The children of one run; those that are left when it is destroyed are killed.
class children {
 public:
  children() = default;
  children(const children&) = delete;
  children& operator=(const children&) = delete;

  ~children() {
    for (auto& c : children_) {
      if (c.running()) ::kill(c.pid, SIGKILL);
    }
    for (auto& c : children_) {
      if (c.running()) reap(c, 0);
      ::close(c.report);
    }
  }

  /// Forks the next rank, which runs `body` and exits.
  template <class Body>
  void start(const Body& body) {
    std::array<int, 2> ends;
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
    std::fflush(stdout);
    std::fflush(stderr);
    const pid_t parent = ::getpid(), pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(::getppid() == parent ? run(body, ends[1]) : 1);
    }
    const int reason = errno;
    ::close(ends[1]);
    if (pid < 0) {
      ::close(ends[0]);
      errno = reason;
      fail("fork");
    }
    children_.push_back({pid, ends[0]});
  }

  /// Waits for all. Throws the failure that came first, or timeout.
  void wait(deadline until) {
    for (bool failed = false; std::ranges::any_of(children_, &child::running) && !until.expired();) {
      for (auto& c : children_) {
        if (c.running()) reap(c, WNOHANG);
      }
      if (!failed && !failures_.empty()) {
        failed = true;
        until = std::min(until, deadline::after(grace));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // A rank that only reports the loss of another is not the cause.
    const auto cause = std::ranges::find(failures_, false, &failure::of_another);
    if (cause != failures_.end()) throw error(cause->what);
    if (!failures_.empty()) throw error(failures_.front().what);
    if (std::ranges::any_of(children_, &child::running)) throw error(errc::timeout, late());
  }

 private:
  static constexpr std::chrono::seconds grace{1};
  static constexpr std::size_t longest_report = 4000;  // fits a pipe, so that writing never blocks

  struct child {
    pid_t pid;
    int report;  // reading end of a pipe
    bool ended = false;

    bool running() const { return !ended; }
  };

  struct failure {
    error what;
    bool of_another;  // the child blames another rank
  };

  [[noreturn]] static void fail(const std::string& what) {
    throw error(errc::out_of_memory,
                concat("run_processes: ", what, ": ", std::generic_category().message(errno)));
  }

  // --- In the child.

  template <class Body>
  static int run(const Body& body, int report) {
    int status = 1;
    try {
      body();
      status = 0;
    } catch (const error& e) {
      tell(report, e.kind(), e.failed_rank(), reason(e));
    } catch (const std::exception& e) {
      tell(report, errc::aborted, no_rank, e.what());
    } catch (...) {
      tell(report, errc::aborted, no_rank, "an exception of unknown type");
    }
    std::fflush(stdout);
    std::fflush(stderr);
    return status;
  }

  static void tell(int report, errc kind, int failed_rank, const std::string& text) {
    const auto message =
        concat(static_cast<int>(kind), ' ', failed_rank, ' ', text).substr(0, longest_report);
    [[maybe_unused]] const auto written = ::write(report, message.data(), message.size());
  }

  // --- In the parent.

  int rank_of(const child& c) const { return static_cast<int>(&c - children_.data()); }

  /// Collects a child if it has ended, and how.
  void reap(child& c, int flags) {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(c.pid, &status, flags)) < 0 && errno == EINTR) continue;
    if (pid == 0) return;
    c.ended = true;
    if (pid < 0 || status == 0) return;
    std::array<char, longest_report> text;
    const auto size = WIFEXITED(status) ? ::read(c.report, text.data(), text.size()) : 0;
    failures_.push_back(size > 0 ? told(rank_of(c), std::string(text.data(), static_cast<std::size_t>(size)))
                                 : silent(rank_of(c), status));
  }

  static failure told(int rank, const std::string& report) {
    std::istringstream fields(report);
    int kind = 0, blamed = no_rank;
    fields >> kind >> blamed;
    fields.get();
    const std::string text(std::istreambuf_iterator<char>(fields), {});
    return {error(static_cast<errc>(kind), concat("rank ", rank, ": ", text), rank),
            blamed != no_rank && blamed != rank};
  }

  static failure silent(int rank, int status) {
    const auto how = WIFSIGNALED(status) ? concat(" was killed by signal ", WTERMSIG(status))
                                         : concat(" exited with code ", WEXITSTATUS(status));
    return {error(errc::peer_lost, concat("rank ", rank, how), rank), false};
  }

  std::string late() const {
    std::string ranks;
    for (const auto& c : children_) {
      if (c.running()) ranks += concat(' ', rank_of(c));
    }
    return concat("run_processes: these ranks have not ended in time:", ranks);
  }

  std::vector<child> children_;
  std::vector<failure> failures_;  // in the order in which they were seen
};

}  // namespace hccl::inline v0::detail
