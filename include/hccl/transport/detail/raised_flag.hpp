// SPDX-License-Identifier: Apache-2.0
#pragma once

// The flag of a rank that is in the memory of others.

#include <atomic>
#include <utility>

namespace hccl::inline v0::detail {

/// Keeps a flag set while a rank is in the memory of others. Setting it is sequentially consistent, as is the word of
/// an abort: either this rank, which looks for an abort next, sees it, or the one who aborts sees the flag.
class raised_flag {
 public:
  explicit raised_flag(std::atomic<bool>& flag) : flag_(&flag) { flag_->store(true); }
  raised_flag(raised_flag&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
  raised_flag& operator=(raised_flag&&) = delete;
  ~raised_flag() {
    if (flag_ != nullptr) flag_->store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool>* flag_;
};

}  // namespace hccl::inline v0::detail
