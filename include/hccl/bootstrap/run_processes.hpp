// SPDX-License-Identifier: Apache-2.0
#pragma once

// run_processes<Transport>(n, f): forks n ranks of this program, for examples and tests. Linux.

#include <hccl/bootstrap/connect.hpp>
#include <hccl/bootstrap/detail/children.hpp>
#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>

#include <chrono>
#include <string>

namespace hccl::inline v0 {

/// What run_processes() may be told.
struct run_options {
  std::chrono::nanoseconds timeout = std::chrono::minutes(10);  ///< for the whole run
};

/// Runs `f(comm)` in `ranks` forked processes, which are connected by a transport Net, and waits for them.
///
/// The calling program should have no other threads. A child leaves by _exit after f: no destructor of the
/// parent's objects runs there, and what f computes stays there. The children die with the calling thread.
///
/// Errors: when a child fails the others get a second to notice it and are then ended; the error of the child
/// that failed first is thrown, with its kind (`peer_lost` when it was killed or has exited, `aborted` for an
/// exception that is not of hccl), its rank as `failed_rank()` and its text. `timeout` when the run takes too
/// long; the children are then ended.
template <Connectable Net, class F>
void run_processes(int ranks, F&& f, const run_options& options = {}) {
  if (ranks < 1) throw error(errc::invalid_argument, detail::concat("run_processes: ", ranks, " ranks"));
  const auto until = deadline::after(options.timeout);
  const auto store = detail::concat("unix:@hccl-run-", detail::random_name());
  detail::children children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.start([&] {
      auto comm = connect<Net>({.rank = rank, .size = ranks, .store = store, .timeout = {}});
      f(comm);
    });
  }
  children.wait(until);
}

}  // namespace hccl::inline v0
