// SPDX-License-Identifier: Apache-2.0

// Communicators: how operators get into streams.

#include "communicator.hpp"

#include "workplace.hpp"

#include <hccl/core/error.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <future>
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

// Communicators.

/// What the stream and the queue tell each other of one operator.
struct communicator::turn {
  std::shared_ptr<std::atomic<int>> launched;
  std::promise<bool> has_come{};
  hccl::request done{};
};

communicator::communicator(std::unique_ptr<worker> work, std::string name, aclrtContext context)
    : rank_(work->queue.rank()),
      size_(work->queue.size()),
      name_(std::move(name)),
      context_(context),
      worker_(std::move(work)) {}

communicator::~communicator() = default;

void communicator::perform(const operation& run, const workplace& at) {
  try {
    expect_success(aclrtSetCurrentContext(context_), "aclrtSetCurrentContext");
    run(at);
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
      .enqueue(
          [this, run = std::move(run)](auto& comm) { perform(run, {comm, worker_->input, worker_->output}); })
      .wait();
}

void communicator::launch(aclrtStream stream, operation run) {
  const std::lock_guard order(launching_);
  if (is_suspended_) throw refusal(HCCL_E_SUSPENDING, "rank ", rank(), ": the communicator is suspended");
  if (const failure before = first_failure(); before.result != HCCL_SUCCESS)
    throw refusal(before.result, "an earlier operator has failed: ", before.why);
  auto next = std::make_unique<turn>(turn{launched_});
  next->done = worker_->queue.enqueue(
      [this, run = std::move(run), has_come = next->has_come.get_future()](auto& comm) mutable {
        if (has_come.get()) perform(run, {comm, worker_->input, worker_->output});
      });
  ++*launched_;
  const auto take_turn = [](void* argument) {
    const std::unique_ptr<turn> mine(static_cast<turn*>(argument));
    mine->has_come.set_value(true);
    try {
      mine->done.wait();
    } catch (...) {
      fail_stream(current_failure());
    }
    --*mine->launched;
  };
  if (const aclError code = aclrtLaunchHostFunc(stream, take_turn, next.get()); code != ACL_SUCCESS) {
    next->has_come.set_value(false);
    --*launched_;
    expect_success(code, "aclrtLaunchHostFunc");
  }
  next.release();
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
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(members_, handle, &member::handle);
  if (found == members_.end())
    throw refusal(HCCL_E_PARA,
                  "comm is no communicator of this process: it was destroyed, or made before a fork");
  return found->comm;
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
