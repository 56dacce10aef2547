// SPDX-License-Identifier: Apache-2.0
#pragma once

// The simulated devices of this process: contexts, streams, events, memory, and who may reach whose.

#include "device_memory.hpp"
#include "error.hpp"
#include "settings.hpp"
#include "stream.hpp"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace acl_sim {

/// Things that a program holds by a pointer of which it sees nothing. A pointer that is none, or is not any more, is
/// found to be so. From any thread.
template <class T>
class handles {
 public:
  void* add(std::shared_ptr<T> thing) {
    const std::lock_guard lock(mutex_);
    void* const handle = thing.get();
    things_.emplace(handle, std::move(thing));
    return handle;
  }

  std::shared_ptr<T> find(void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = things_.find(handle);
    return found == things_.end() ? nullptr : found->second;
  }

  /// Returns what was removed.
  std::shared_ptr<T> remove(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = things_.find(handle);
    if (found == things_.end()) return nullptr;
    auto thing = std::move(found->second);
    things_.erase(found);
    return thing;
  }

  /// All that match.
  std::vector<std::shared_ptr<T>> all(auto&& matches) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> found;
    for (const auto& [handle, thing] : things_) {
      if (matches(*thing)) found.push_back(thing);
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::map<void*, std::shared_ptr<T>> things_;
};

/// A context: a device, and a stream for those who name none.
struct context {
  explicit context(int device_id) : device(device_id) {}

  const int device;
  stream default_stream;
};

/// A stream that a program has made.
struct made_stream {
  explicit made_stream(std::shared_ptr<context> c) : owner(std::move(c)) {}

  std::shared_ptr<context> owner;
  stream work;
};

/// Everything. From any thread.
class machine {
 public:
  /// Made at the first call, and again in a process that was forked, which has nothing of its parent's devices. Throws
  /// std::invalid_argument if a setting cannot be read.
  static machine& instance() {
    static std::atomic<machine*> made{nullptr};  // never destroyed: streams may run until the end
    [[maybe_unused]] static const int watch = ::pthread_atfork(nullptr, nullptr, [] { made = nullptr; });
    if (machine* const found = made) return *found;
    std::unique_ptr<machine> own(new machine(settings::read()));
    machine* none = nullptr;
    return made.compare_exchange_strong(none, own.get()) ? *own.release() : *none;
  }

  const settings& setup() const { return setup_; }
  device_memory& memory() { return memory_; }
  handles<context>& contexts() { return contexts_; }
  handles<made_stream>& streams() { return streams_; }
  handles<event>& events() { return events_; }

  bool has_device(std::int64_t id) const { return id >= 0 && id < setup_.devices; }

  /// The context of this thread, or none.
  std::shared_ptr<context> current() const { return contexts_.find(current_handle()); }
  static void*& current_handle() {
    static thread_local void* handle = nullptr;
    return handle;
  }

  /// Counts one more user of a device, and makes its own context that of this thread.
  void set_device(int id) {
    const std::lock_guard lock(mutex_);
    used_device& d = devices_[static_cast<std::size_t>(id)];
    if (d.users++ == 0) d.handle = contexts_.add(std::make_shared<context>(id));
    current_handle() = d.handle;
  }

  /// Counts one user less, or none any more. The last one waits for the default stream, and frees the device's memory.
  aclError reset_device(std::string_view call, int id, bool all_users) {
    std::shared_ptr<context> gone;
    {
      const std::lock_guard lock(mutex_);
      used_device& d = devices_[static_cast<std::size_t>(id)];
      if (d.users == 0) return fail(ACL_ERROR_RT_INVALID_DEVICEID, call, ": device ", id, " was not set");
      d.users = all_users ? 0 : d.users - 1;
      if (d.users > 0) return ACL_SUCCESS;
      gone = contexts_.remove(std::exchange(d.handle, nullptr));
    }
    const aclError result = gone->default_stream.synchronize({});
    memory_.release_all(id);
    return result;
  }

  /// Whether a device may reach the memory of another.
  bool can_reach(int device, int other) const {
    if (device == other) return true;
    const std::lock_guard lock(mutex_);
    return reachable_.contains({device, other});
  }
  void set_reach(int device, int other, bool may) {
    const std::lock_guard lock(mutex_);
    if (may) {
      reachable_.insert({device, other});
    } else {
      reachable_.erase({device, other});
    }
  }

  /// Host memory that copies may use while the program goes on.
  bool is_pinned(const void* address) const {
    const std::lock_guard lock(mutex_);
    const auto next = pinned_.upper_bound(static_cast<const std::byte*>(address));
    if (next == pinned_.begin()) return false;
    const auto& [begin, size] = *std::prev(next);
    return static_cast<const std::byte*>(address) < begin + size;
  }
  void pin(const void* begin, std::size_t size) {
    const std::lock_guard lock(mutex_);
    pinned_.emplace(static_cast<const std::byte*>(begin), size);
  }
  bool unpin(const void* begin) {
    const std::lock_guard lock(mutex_);
    return pinned_.erase(static_cast<const std::byte*>(begin)) > 0;
  }

  /// How long a stream waits for an event.
  patience wait_limit() const {
    const std::lock_guard lock(mutex_);
    return wait_limit_;
  }
  void set_wait_limit(patience most) {
    const std::lock_guard lock(mutex_);
    wait_limit_ = most;
  }

  /// Says that the process begins or ends to use AscendCL; false if it has before.
  bool set_initialized(bool is) {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_initialized_, is) != is;
  }

 private:
  struct used_device {
    int users = 0;
    void* handle = nullptr;  // of its own context
  };

  explicit machine(const settings& setup)
      : setup_(setup),
        memory_(setup.devices, setup.memory),
        devices_(static_cast<std::size_t>(setup.devices)) {}

  const settings setup_;
  device_memory memory_;
  handles<context> contexts_;
  handles<made_stream> streams_;
  handles<event> events_;
  mutable std::mutex mutex_;
  std::vector<used_device> devices_;
  std::set<std::pair<int, int>> reachable_;
  std::map<const std::byte*, std::size_t> pinned_;
  patience wait_limit_;
  bool is_initialized_ = false;
};

}  // namespace acl_sim
