// SPDX-License-Identifier: Apache-2.0
#pragma once

// A communicator of the HCCL API: an operation queue, whose operations take their turn in a stream.

#include "last_error.hpp"

#include <hccl/hccl_types.h>

#include <acl/acl.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace c_api {

struct workplace;
struct worker;

/// One communicator of one rank. Operators are issued by one thread at a time; the rest is for any thread.
class communicator {
 public:
  using operation = std::function<void(const workplace&)>;

  /// `context`: of the device whose memory is used.
  communicator(std::unique_ptr<worker> work, std::string name, aclrtContext context);
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  /// Waits until all that was launched has ended.
  ~communicator();

  /// Keeps something until this has ended.
  void keep(std::shared_ptr<void> thing) { kept_ = std::move(thing); }

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& name() const { return name_; }
  aclrtContext context() const { return context_; }

  /// Has `run` done in its turn in the stream; what is behind it there waits for it. Operators run in the order in
  /// which they are launched, whatever their streams. Throws what an earlier one has failed with.
  void launch(aclrtStream stream, operation run);

  /// Has it done after what was launched before, and waits for it. Throws what it throws.
  void run_now(operation run);

  /// While it is suspended, operators are refused by HCCL_E_SUSPENDING.
  void suspend(bool is) { is_suspended_ = is; }
  bool is_suspended() const { return is_suspended_; }

  /// The communicator of which this is a part: its handle, or null.
  HcclComm parent() const { return parent_; }
  void set_parent(HcclComm parent) { parent_ = parent; }

  /// The first failure of an operator.
  failure first_failure() const;

  /// Whether all that was launched has ended.
  bool is_idle() const { return *launched_ == 0; }

 private:
  class turn;

  void perform(const operation& run, const workplace& at, turn* when);

  const int rank_, size_;
  const std::string name_;
  const aclrtContext context_;
  std::shared_ptr<void> kept_;
  std::mutex launching_;  // the order of the queue is that of the streams
  std::shared_ptr<std::atomic<int>> launched_ = std::make_shared<std::atomic<int>>(0);  // and not ended
  std::atomic<bool> is_suspended_ = false;
  HcclComm parent_ = nullptr;
  mutable std::mutex mutex_;
  failure failure_;
  std::unique_ptr<worker> worker_;  // the last member: it ends first
};

/// The communicators of this process by their handles. From any thread.
class communicators {
 public:
  static communicators& instance();

  HcclComm add(std::shared_ptr<communicator> made);

  /// Throws HCCL_E_PTR for null, and HCCL_E_PARA for what is no communicator, or is not any more, or is of the
  /// process that this one was forked from.
  std::shared_ptr<communicator> find(HcclComm handle) const;

  /// Null for what is none.
  std::shared_ptr<communicator> find_if_there(HcclComm handle) const;

  /// As `find`. Throws HCCL_E_AGAIN while one of its operators has not ended.
  void remove(HcclComm handle);

  /// The one of that name on the device of the context, or null.
  HcclComm named(std::string_view name, aclrtContext context) const;

 private:
  struct member {
    HcclComm handle;
    std::shared_ptr<communicator> comm;
  };

  mutable std::mutex mutex_;
  std::vector<member> members_;
  std::size_t made_ = 0;
};

}  // namespace c_api
