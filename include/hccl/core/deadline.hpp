// SPDX-License-Identifier: Apache-2.0
// A point in time at which a wait gives up.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace hccl::inline v0 {

/// A point on the steady clock at which a wait gives up. A value type; copying is free.
class deadline {
 public:
  using clock = std::chrono::steady_clock;

  constexpr explicit deadline(clock::time_point time) : time_(time) {}

  /// A deadline that never passes.
  static constexpr deadline never() { return deadline(clock::time_point::max()); }

  /// A deadline that has passed: for who looks, and does not wait.
  static constexpr deadline passed() { return deadline(clock::time_point::min()); }

  /// The deadline that passes `duration` from now; saturates to `never()`.
  static deadline after(std::chrono::nanoseconds duration) {
    const auto now = clock::now();
    return duration >= clock::time_point::max() - now ? never() : deadline(now + duration);
  }

  constexpr clock::time_point time() const { return time_; }
  bool expired() const { return *this != never() && (*this == passed() || clock::now() >= time_); }

  /// The time that is left, zero when it has passed.
  std::chrono::nanoseconds remaining() const {
    if (*this == never()) return std::chrono::nanoseconds::max();
    if (*this == passed()) return std::chrono::nanoseconds::zero();
    return std::max(std::chrono::nanoseconds::zero(), std::chrono::nanoseconds(time_ - clock::now()));
  }

  friend constexpr auto operator<=>(deadline, deadline) = default;

 private:
  clock::time_point time_;
};

namespace detail {

/// A deadline that is counted from when it is first asked for: to read the clock takes as long as a small message.
class late_deadline {
 public:
  explicit late_deadline(std::chrono::nanoseconds duration) : duration_(duration) {}

  deadline get() {
    if (!fixed_) fixed_ = deadline::after(duration_);
    return *fixed_;
  }

 private:
  std::chrono::nanoseconds duration_;
  std::optional<deadline> fixed_;
};

}  // namespace detail

}  // namespace hccl::inline v0
