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
  std::exception_ptr first;
  const auto run_rank = [&](communicator<LocalTransport> comm) {
    const int rank = comm.rank();
    const auto fail = [&](const char* what) {
      {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
      world.abort(error(errc::aborted, detail::concat("rank ", rank, ": ", what), rank), rank);
    };
    try {
      f(comm);
    } catch (const std::exception& e) {
      fail(e.what());
    } catch (...) {
      fail("an exception of unknown type");
    }
  };
  {
    std::vector<communicator<LocalTransport>> members;
    for (int rank = 0; rank < ranks; ++rank) members.emplace_back(world.transport(rank));
    std::vector<std::jthread> threads;
    for (auto& member : members) threads.emplace_back(run_rank, std::move(member));
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace hccl::inline v0
