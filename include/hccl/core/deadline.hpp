// SPDX-License-Identifier: Apache-2.0
// A point in time at which a wait gives up.
#pragma once

#include <algorithm>
#include <chrono>

namespace hccl::inline v0 {

/// A point on the steady clock at which a wait gives up. A value type; copying is free.
class deadline {
 public:
  using clock = std::chrono::steady_clock;

  constexpr explicit deadline(clock::time_point time) : time_(time) {}

  /// A deadline that never passes.
  static constexpr deadline never() { return deadline(clock::time_point::max()); }

  /// The deadline that passes `duration` from now; saturates to `never()`.
  static deadline after(std::chrono::nanoseconds duration) {
    const auto now = clock::now();
    return duration >= clock::time_point::max() - now ? never() : deadline(now + duration);
  }

  constexpr clock::time_point time() const { return time_; }
  bool expired() const { return *this != never() && clock::now() >= time_; }

  /// The time that is left, zero when it has passed.
  std::chrono::nanoseconds remaining() const {
    if (*this == never()) return std::chrono::nanoseconds::max();
    return std::max(std::chrono::nanoseconds::zero(), std::chrono::nanoseconds(time_ - clock::now()));
  }

  friend constexpr auto operator<=>(deadline, deadline) = default;

 private:
  clock::time_point time_;
};

}  // namespace hccl::inline v0
