// SPDX-License-Identifier: Apache-2.0
#pragma once

// The limits of tests. They are against hanging, not against slowness: a machine may be twenty times slower.

#include <chrono>

namespace hccl_test {

/// How long to wait for what must come. Only a test that fails waits as long.
inline constexpr std::chrono::seconds patience{60};

/// How soon what does not wait for a deadline has come, and what waits for one comes after it. Well below
/// `patience`, so that it tells the two apart.
inline constexpr std::chrono::seconds promptly{10};

/// The time since it was made.
class Stopwatch {
 public:
  std::chrono::nanoseconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Tells whether a sanitizer watches every access to memory, which makes moving many bytes expensive.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool under_sanitizer = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
inline constexpr bool under_sanitizer = false;
#endif

/// Whether the thread sanitizer runs, which knows no threads in a process that was forked from one that had some.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool under_thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

}  // namespace hccl_test
