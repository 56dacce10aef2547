// SPDX-License-Identifier: Apache-2.0
#pragma once

// operation_queue: collectives in the background. Not part of the front door: it starts a thread.

#include <hccl/collective/communicator.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace hccl::inline v0 {

/// An operation that was enqueued. May be copied, and outlives its queue. From any thread.
class request {
 public:
  /// An operation that has ended.
  request() = default;

  /// Waits until the operation has ended, and throws what it threw. Throws `timeout` if it has not ended by then: it
  /// goes on, and ends at the deadline of its communicator.
  void wait(deadline until = deadline::never()) const {
    if (!ended_.valid()) return;
    if (until != deadline::never() && ended_.wait_until(until.time()) != std::future_status::ready)
      throw error(errc::timeout, "request: the operation has not ended yet");
    ended_.get();
  }

  /// Tells whether the operation has ended; throws what it threw.
  bool test() const {
    if (ended_.valid() && ended_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    wait();
    return true;
  }

 private:
  template <Transport Net>
  friend class operation_queue;

  explicit request(std::shared_future<void> ended) : ended_(std::move(ended)) {}

  std::shared_future<void> ended_;
};

/// Runs the operations of one communicator in a thread of its own, in the order in which they are enqueued.
///
/// Every rank enqueues the same collectives in the same order. After one has failed, all later ones fail as on the
/// communicator. Two queues have two communicators, and are independent. From any thread; each enqueueing allocates some
/// hundred bytes.
template <Transport Net>
class operation_queue {
 public:
  /// Takes the communicator, which nobody else may use any more.
  explicit operation_queue(communicator<Net> comm)
      : comm_(std::move(comm)), worker_([this](const std::stop_token& stop) { work(stop); }) {}

  operation_queue(const operation_queue&) = delete;
  operation_queue& operator=(const operation_queue&) = delete;

  /// Waits until all that was enqueued has ended.
  ~operation_queue() = default;

  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }

  /// Runs f(communicator) after all that was enqueued before. What `f` refers to, buffers above all, has to live until
  /// the request has ended.
  template <class F>
  request enqueue(F&& f) {
    operation next(std::forward<F>(f));
    request made(next.get_future().share());
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(next));
    changed_.notify_one();
    return made;
  }

  /// Makes the collective that runs fail, on all ranks, and all later ones.
  void abort(const error& why) noexcept { comm_.abort(why); }

 private:
  using operation = std::packaged_task<void(communicator<Net>&)>;

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) {
      operation next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next(comm_);
      lock.lock();
    }
  }

  communicator<Net> comm_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<operation> waiting_;
  std::jthread worker_;  // the last member: it ends first
};

}  // namespace hccl::inline v0
