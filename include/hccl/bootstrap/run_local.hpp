// SPDX-License-Identifier: Apache-2.0
#pragma once

// run_local: ranks as threads of this process.

#include <hccl/collective/communicator.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/local.hpp>

#include <concepts>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace hccl::inline v0 {

/// Runs `f(comm)` on a thread for each rank of a world, each with the communicator of its rank, and waits for all.
///
/// world: that of a transport between threads; each transport is made in the thread of its rank. f: callable as
/// f(communicator&), shared by all threads. If it throws on a rank, the communicators of all are aborted, and the first
/// exception is rethrown here.
template <class World, class F>
  requires(!std::integral<World>)
void run_local(const World& world, F&& f) {
  using Net = decltype(world.transport(0));
  std::mutex mutex;
  std::exception_ptr cause;        // the first failure that its rank does not blame on another
  std::exception_ptr consequence;  // the first that it does
  const auto run_rank = [&](int rank) {
    const auto fail = [&](const char* what, std::exception_ptr& kept) {
      {
        const std::lock_guard lock(mutex);
        if (!kept) kept = std::current_exception();
      }
      world.abort(error(errc::aborted, detail::concat("rank ", rank, ": ", what), rank), rank);
    };
    std::optional<communicator<Net>> comm;  // its end comes after the news of a failure
    try {
      f(comm.emplace(world.transport(rank)));
    } catch (const error& e) {
      fail(e.what(), e.failed_rank() == no_rank || e.failed_rank() == rank ? cause : consequence);
    } catch (const std::exception& e) {
      fail(e.what(), cause);
    } catch (...) {
      fail("an exception of unknown type", cause);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world.size(); ++rank) threads.emplace_back(run_rank, rank);
  }
  if (cause) std::rethrow_exception(cause);
  if (consequence) std::rethrow_exception(consequence);
}

/// As above, on `ranks` threads with nothing between them but memory. Throws `invalid_argument` if ranks < 1.
template <class F>
void run_local(int ranks, F&& f) {
  run_local(LocalTransport::world(ranks), f);
}

}  // namespace hccl::inline v0
