// SPDX-License-Identifier: Apache-2.0
#pragma once

// run_local: ranks as threads of this process.

#include <hccl/collective/communicator.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/local.hpp>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hccl::inline v0 {

/// Runs `f(comm)` on `ranks` threads, each with the communicator of its rank, and waits for all.
///
/// f: callable as f(communicator<LocalTransport>&), shared by all threads. If it throws on a rank, the
/// communicators of all are aborted, and the first exception is rethrown here. Throws `invalid_argument` if
/// ranks < 1.
template <class F>
void run_local(int ranks, F&& f) {
  const LocalTransport::world world(ranks);
  std::mutex mutex;
  std::exception_ptr cause;        // the first failure that its rank does not blame on another
  std::exception_ptr consequence;  // the first that it does
  const auto run_rank = [&](communicator<LocalTransport> comm) {
    const int rank = comm.rank();
    const auto fail = [&](const char* what, std::exception_ptr& kept) {
      {
        const std::lock_guard lock(mutex);
        if (!kept) kept = std::current_exception();
      }
      world.abort(error(errc::aborted, detail::concat("rank ", rank, ": ", what), rank), rank);
    };
    try {
      f(comm);
    } catch (const error& e) {
      fail(e.what(), e.failed_rank() == no_rank || e.failed_rank() == rank ? cause : consequence);
    } catch (const std::exception& e) {
      fail(e.what(), cause);
    } catch (...) {
      fail("an exception of unknown type", cause);
    }
  };
  {
    std::vector<communicator<LocalTransport>> members;
    for (int rank = 0; rank < ranks; ++rank) members.emplace_back(world.transport(rank));
    std::vector<std::jthread> threads;
    for (auto& member : members) threads.emplace_back(run_rank, std::move(member));
  }
  if (cause) std::rethrow_exception(cause);
  if (consequence) std::rethrow_exception(consequence);
}

}  // namespace hccl::inline v0
