// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a rank waits for what another one does in shared memory.

#include <hccl/core/deadline.hpp>
#include <hccl/core/detail/cores.hpp>

#include <chrono>
#include <thread>

namespace hccl::inline v0::detail {

/// Tells the core that it runs in a loop that waits.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How long a rank that waits yields before it sleeps: it is slow to come back where others want the core.
inline constexpr std::chrono::milliseconds most_yielding{10};

/// Calls `move()` until it returns true, and returns true, or until the deadline has passed, and returns false. Spins
/// while every one of `ranks` has a core of its own, then yields, then sleeps until `bell` is rung. `check()` is called
/// between the looks at what is slow to change.
template <class Bell>
bool wait_until(deadline until, int ranks, Bell& bell, auto&& move, auto&& check) {
  constexpr int first_spins = 64, most_spins = 2000;
  const bool spins = ranks <= cores() && until != deadline::passed();
  const auto spin = [&](int times) {
    for (; times > 0; --times) {
      relax();
      if (move()) return true;
    }
    return false;
  };
  if (move()) return true;
  if (spins && spin(first_spins)) return true;  // to read the clock takes as long as a small message
  check();
  if (until.expired()) return false;
  if (spins && spin(most_spins)) return true;
  for (const auto awake = deadline::after(most_yielding); !awake.expired();) {
    std::this_thread::yield();
    if (move()) return true;
    check();
    if (until.expired()) return false;
  }
  struct watch {
    Bell& bell;
    ~watch() { bell.ignore(); }
  } const guard{bell};
  for (;;) {
    bell.watch();
    if (move()) return true;
    check();
    if (until.expired()) return false;
    bell.sleep(until);
  }
}

}  // namespace hccl::inline v0::detail
