// SPDX-License-Identifier: Apache-2.0

// Communicators: how operators get into streams.

#include "communicator.hpp"

#include "workplace.hpp"

#include <hccl/core/error.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <utility>

#if __has_include(<acl/acl_sim.h>)
#define HCCLPP_HAS_ACL_SIM
#include <acl/acl_sim.h>
#endif

namespace c_api {

namespace {

/// Has the stream in whose turn this is called fail, where AscendCL offers that: simulated, it does.
void fail_stream([[maybe_unused]] const failure& f) {
#ifdef HCCLPP_HAS_ACL_SIM
  aclSimFailTask(f.result == HCCL_E_TIMEOUT ? ACL_ERROR_RT_TASK_TIMEOUT : ACL_ERROR_FAILURE, f.why.c_str());
#endif
}

}  // namespace

/// What a stream and the worker tell each other of one operator.
class communicator::turn : public std::enable_shared_from_this<turn> {
 public:
  turn(std::shared_ptr<std::atomic<int>> launched, aclrtStream stream)
      : launched_(std::move(launched)), stream_(stream) {
    ++*launched_;
  }

  /// For the worker: waits until the stream has come here. Returns false if it never will, since it was not launched.
  /// Throws HCCL_E_RUNTIME once the stream has dropped it.
  bool await() {
    std::unique_lock lock(mutex_);
    while (stage_ == stage::launching || stage_ == stage::in_stream) {
      changed_.wait_for(lock, time_between_looks);
      if (stage_ != stage::in_stream || !is_stream_over()) continue;
      stage_ = stage::over;
      keep_for_ever(std::move(own_));
      --*launched_;
      throw refusal(HCCL_E_RUNTIME,
                    "the stream has dropped an operator: it was destroyed, aborted, or stopped at a failure");
    }
    return stage_ == stage::come;
  }

  /// Puts it into the stream, after which `done` says how it has ended.
  void launch(hccl::request done) {
    done_ = std::move(done);
    const std::lock_guard lock(mutex_);
    own_ = shared_from_this();
    const aclError code =
        aclrtLaunchHostFunc(stream_, [](void* self) { static_cast<turn*>(self)->take(); }, this);
    stage_ = code == ACL_SUCCESS ? stage::in_stream : stage::over;
    changed_.notify_all();
    if (code == ACL_SUCCESS) return;
    own_ = nullptr;
    done_ = {};
    --*launched_;
    expect_success(code, "aclrtLaunchHostFunc");
  }

 private:
  enum class stage { launching, in_stream, come, over };

  /// For the stream: has the worker run the operator, and waits for it.
  void take() {
    std::unique_lock lock(mutex_);
    const auto own = std::move(own_);
    if (stage_ == stage::over) return;  // the worker has not waited any longer
    stage_ = stage::come;
    changed_.notify_all();
    lock.unlock();
    const auto done = std::exchange(done_, {});  // it holds the operation, and that holds this
    try {
      done.wait();
    } catch (...) {
      fail_stream(current_failure());
    }
    --*launched_;
  }

  /// A stream may still come to what it seems to have dropped.
  static void keep_for_ever(std::shared_ptr<turn> dropped) {
    static auto& all = *new std::vector<std::shared_ptr<turn>>;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    all.push_back(std::move(dropped));
  }

  bool is_stream_over() const {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    return aclrtStreamQuery(stream_, &status) != ACL_SUCCESS || status == ACL_STREAM_STATUS_COMPLETE;
  }

  static constexpr std::chrono::milliseconds time_between_looks{100};

  const std::shared_ptr<std::atomic<int>> launched_;
  const aclrtStream stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  stage stage_ = stage::launching;
  std::shared_ptr<turn> own_;  // while it is in the stream
  hccl::request done_;
};

communicator::communicator(std::unique_ptr<worker> work, std::string name, aclrtContext context)
    : rank_(work->queue.rank()),
      size_(work->queue.size()),
      name_(std::move(name)),
      context_(context),
      worker_(std::move(work)) {}

communicator::~communicator() = default;

void communicator::perform(const operation& run, const workplace& at, turn* when) {
  try {
    expect_success(aclrtSetCurrentContext(context_), "aclrtSetCurrentContext");
    if (when == nullptr || when->await()) run(at);
  } catch (...) {
    failure why = current_failure();
    at.comm.abort(
        hccl::error(hccl::errc::aborted, hccl::detail::concat("rank ", rank(), ": ", why.why), rank()));
    const std::lock_guard lock(mutex_);
    if (failure_.result == HCCL_SUCCESS) failure_ = std::move(why);
    throw;
  }
}

void communicator::run_now(operation run) {
  worker_->queue
      .enqueue([this, run = std::move(run)](auto& comm) {
        perform(run, {comm, worker_->input, worker_->output}, nullptr);
      })
      .wait();
}

void communicator::launch(aclrtStream stream, operation run) {
  const std::lock_guard order(launching_);
  if (is_suspended_) throw refusal(HCCL_E_SUSPENDING, "rank ", rank(), ": the communicator is suspended");
  if (const failure before = first_failure(); before.result != HCCL_SUCCESS)
    throw refusal(before.result, "an earlier operator has failed: ", before.why);
  const auto next = std::make_shared<turn>(launched_, stream);
  next->launch(worker_->queue.enqueue([this, next, run = std::move(run)](auto& comm) {
    perform(run, {comm, worker_->input, worker_->output}, next.get());
  }));
}

failure communicator::first_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

// Their handles.

communicators& communicators::instance() {
  static std::atomic<communicators*> known{nullptr};  // never destroyed: streams may run until the end
  // A process that was forked has none of its parent's threads, and so none of its communicators.
  [[maybe_unused]] static const int watch = ::pthread_atfork(nullptr, nullptr, [] { known = nullptr; });
  if (communicators* const found = known) return *found;
  auto own = std::make_unique<communicators>();
  communicators* none = nullptr;
  return known.compare_exchange_strong(none, own.get()) ? *own.release() : *none;
}

HcclComm communicators::add(std::shared_ptr<communicator> made) {
  const std::lock_guard lock(mutex_);
  // No number comes twice in a process, or in those that it forks.
  constexpr unsigned bits_of_number = 32;
  const auto number = (static_cast<std::uintptr_t>(::getpid()) << bits_of_number) + ++made_;
  members_.push_back({reinterpret_cast<HcclComm>(number), std::move(made)});
  return members_.back().handle;
}

std::shared_ptr<communicator> communicators::find(HcclComm handle) const {
  if (handle == nullptr) throw refusal(HCCL_E_PTR, "comm is null");
  auto found = find_if_there(handle);
  if (found == nullptr)
    throw refusal(HCCL_E_PARA,
                  "comm is no communicator of this process: it was destroyed, or made before a fork");
  return found;
}

std::shared_ptr<communicator> communicators::find_if_there(HcclComm handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(members_, handle, &member::handle);
  return found == members_.end() ? nullptr : found->comm;
}

void communicators::remove(HcclComm handle) {
  const auto gone = find(handle);  // ends when the lock is free again
  if (!gone->is_idle()) {
    throw refusal(HCCL_E_AGAIN, "rank ", gone->rank(), " of '", gone->name(),
                  "': an operator has not ended; synchronise its stream first");
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(members_, [&](const member& m) { return m.handle == handle; });
}

HcclComm communicators::named(std::string_view name, aclrtContext context) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      members_, [&](const member& m) { return m.comm->name() == name && m.comm->context() == context; });
  return found == members_.end() ? nullptr : found->handle;
}

}  // namespace c_api
