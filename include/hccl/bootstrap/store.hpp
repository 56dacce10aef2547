// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Store concept: a small shared dictionary in which the ranks of a job find each other.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// A dictionary of strings shared by the processes of a job.
///
/// - `set(key, value)` replaces the value of a key;
/// - `get(key)` returns the value, or nothing while there is none; it does not wait;
/// - `claim(key, value)` sets the value unless the key has one, and returns the value that stands: of many
///   that claim one key at the same time exactly one wins, and all are told the same.
///
/// Each call is answered within seconds or throws `hccl::error`. One thread at a time uses a store.
template <class S>
concept Store = std::movable<S> && requires(S& store, const std::string& text) {
  store.set(text, text);
  { store.get(text) } -> std::same_as<std::optional<std::string>>;
  { store.claim(text, text) } -> std::same_as<std::string>;
};

/// Waits until one of the keys has a value, and returns the first such key (in the order given) and its
/// value; nothing once `until` has passed.
template <Store S>
std::optional<std::pair<std::string, std::string>> wait_for_any(S& store,
                                                                const std::vector<std::string>& keys,
                                                                deadline until) {
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(20);
  for (std::chrono::nanoseconds pause = std::chrono::microseconds(500);;
       pause = std::min(longest, 2 * pause)) {
    for (const auto& key : keys) {
      if (auto value = store.get(key)) return std::pair(key, std::move(*value));
    }
    if (until.expired()) return std::nullopt;
    std::this_thread::sleep_for(std::min(pause, until.remaining()));
  }
}

namespace detail {

/// Says that a store has closed the connection: it may come back under the same address.
struct store_lost : error {
  explicit store_lost(const std::string& what) : error(errc::bootstrap_failed, what) {}
};

}  // namespace detail

}  // namespace hccl::inline v0
