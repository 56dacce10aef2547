// SPDX-License-Identifier: Apache-2.0
#pragma once

// Streams and events of simulated devices.

#include "error.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace acl_sim {

/// How long a wait may take; none: for ever.
using patience = std::optional<std::chrono::milliseconds>;

/// A moment in a stream. From any thread.
class event {
 public:
  /// When it was recorded: on the clock of the host, and on that of the simulated devices.
  struct moment {
    std::chrono::steady_clock::time_point host;
    double simulated = 0;  // seconds
  };

  /// Says that it will be recorded; returns the number of that record.
  std::uint64_t expect() {
    const std::lock_guard lock(mutex_);
    return ++expected_;
  }

  /// Records it: what a stream does in its turn.
  void record(std::uint64_t number, double simulated) {
    const std::lock_guard lock(mutex_);
    recorded_ = std::max(recorded_, number);
    moment_ = {std::chrono::steady_clock::now(), simulated};
    changed_.notify_all();
  }

  /// The number of the last record that was asked for, 0 before the first.
  std::uint64_t expected() const {
    const std::lock_guard lock(mutex_);
    return expected_;
  }

  bool is_complete() const {
    const std::lock_guard lock(mutex_);
    return recorded_ >= expected_;
  }

  /// Waits until record `number` has happened. Returns false if that takes too long, or once `gives_up()`.
  bool wait(std::uint64_t number, patience most, auto&& gives_up) const {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (recorded_ < number) {
      if (gives_up() || (most && std::chrono::steady_clock::now() - begin >= *most)) return false;
      changed_.wait_for(lock, nap);
    }
    return true;
  }

  moment when() const {
    const std::lock_guard lock(mutex_);
    return moment_;
  }

  /// Forgets all records.
  void reset() {
    const std::lock_guard lock(mutex_);
    recorded_ = expected_;
    moment_ = {};
  }

 private:
  static constexpr std::chrono::milliseconds nap{10};

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t expected_ = 0, recorded_ = 0;
  moment moment_;
};

/// Runs tasks in order, in a thread of its own. A task that fails stops those behind it only if that is wanted; the first
/// failure is told at the next synchronisation. From any thread.
class stream {
 public:
  /// Returns a code, and says why in a sentence.
  using task = std::function<aclError(stream& on, std::string& why)>;

  stream() : worker_([this](const std::stop_token& stop) { work(stop); }) {}

  /// Waits for the task that runs, and drops the others.
  ~stream() { abort(); }

  aclError push(task t) {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) return fail(ACL_ERROR_RT_STREAM_ABORT, "the stream was aborted");
    tasks_.push_back(std::move(t));
    changed_.notify_all();
    return ACL_SUCCESS;
  }

  /// Waits until all tasks are done, and tells the first failure since the last time.
  aclError synchronize(patience most) {
    std::unique_lock lock(mutex_);
    const auto is_idle = [&] { return tasks_.empty() && !is_working_; };
    if (!most) {
      changed_.wait(lock, is_idle);
    } else if (!changed_.wait_for(lock, *most, is_idle)) {
      return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "the stream has not finished after ", most->count(),
                  " ms");
    }
    if (is_aborted_) return fail(ACL_ERROR_RT_STREAM_ABORT, "the stream was aborted");
    const auto [code, why] = std::exchange(failure_, {});
    return code == ACL_SUCCESS ? code : fail(code, why);
  }

  bool is_idle() const {
    const std::lock_guard lock(mutex_);
    return tasks_.empty() && !is_working_;
  }

  void stop_at_failure(bool stops) {
    const std::lock_guard lock(mutex_);
    stops_at_failure_ = stops;
  }

  /// Drops what has not begun; a task that waits gives up.
  void abort() {
    const std::lock_guard lock(mutex_);
    is_aborted_ = true;
    tasks_.clear();
    changed_.notify_all();
  }

  bool is_aborted() const {
    const std::lock_guard lock(mutex_);
    return is_aborted_;
  }

  /// The simulated clock, in seconds: for tasks.
  double now() const { return now_; }
  void spend(double seconds) { now_ += seconds; }
  void wait_for(double moment) { now_ = std::max(now_, moment); }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !tasks_.empty(); })) {
      task next = std::move(tasks_.front());
      tasks_.pop_front();
      const bool is_skipped = stops_at_failure_ && failure_.first != ACL_SUCCESS;
      is_working_ = true;
      lock.unlock();
      std::string why;
      const aclError code = is_skipped ? ACL_SUCCESS : next(*this, why);
      next = nullptr;  // what it holds goes before it counts as done
      lock.lock();
      is_working_ = false;
      if (code != ACL_SUCCESS && failure_.first == ACL_SUCCESS) failure_ = {code, std::move(why)};
      changed_.notify_all();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<task> tasks_;
  std::pair<aclError, std::string> failure_{};  // the first since the last synchronisation
  bool is_working_ = false, is_aborted_ = false, stops_at_failure_ = false;
  double now_ = 0;
  std::jthread worker_;  // the last member: it ends first
};

}  // namespace acl_sim
