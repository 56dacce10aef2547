// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the calls of AscendCL begin with: the machine, the context of the thread, a stream of it.

#include "error.hpp"
#include "machine.hpp"
#include "stream.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace acl_sim {

/// Calls f(machine).
template <class F>
aclError on_machine(std::string_view call, F&& f) noexcept {
  return guarded(call, [&] { return f(machine::instance()); });
}

/// Calls f(machine, context) with the context of this thread.
template <class F>
aclError in_context(std::string_view call, F&& f) noexcept {
  return on_machine(call, [&](machine& m) {
    const auto here = m.current();
    if (!here)
      return fail(ACL_ERROR_RT_CONTEXT_NULL, call,
                  ": no device is set in this thread; call aclrtSetDevice first");
    return f(m, here);
  });
}

/// Calls f(machine, context, stream) with a stream of the context of this thread; NULL is its default stream.
template <class F>
aclError on_stream(std::string_view call, aclrtStream handle, F&& f) noexcept {
  return in_context(call, [&](machine& m, const std::shared_ptr<context>& here) {
    if (handle == nullptr) return f(m, here, std::shared_ptr<stream>(here, &here->default_stream));
    const auto found = m.streams().find(handle);
    if (!found)
      return fail(ACL_ERROR_RT_INVALID_HANDLE, call, ": stream ", text_of(handle), " does not exist");
    if (found->owner != here) {
      return fail(ACL_ERROR_RT_STREAM_CONTEXT, call, ": stream ", text_of(handle),
                  " is of another context, on device ", found->owner->device, "; this thread is on device ",
                  here->device);
    }
    return f(m, here, std::shared_ptr<stream>(found, &found->work));
  });
}

/// Calls f(event).
template <class F>
aclError on_event(std::string_view call, aclrtEvent handle, F&& f) noexcept {
  return on_machine(call, [&](machine& m) {
    const auto found = m.events().find(handle);
    if (!found)
      return fail(ACL_ERROR_RT_INVALID_HANDLE, call, ": event ", text_of(handle), " does not exist");
    return f(m, found);
  });
}

inline aclError null_argument(std::string_view call, std::string_view name) {
  return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": ", name, " is null");
}

/// A time of `milliseconds`; -1: for ever.
inline patience patience_of(std::int32_t milliseconds) {
  return milliseconds < 0 ? patience() : patience(std::chrono::milliseconds(milliseconds));
}

}  // namespace acl_sim
