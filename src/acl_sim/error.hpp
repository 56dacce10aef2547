// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a simulated call fails: with the code of the real one, and a sentence.

#include <hccl/core/error.hpp>

#include <acl/acl.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace acl_sim {

/// What went wrong in this thread last.
inline std::string& recent_error() {
  static thread_local std::string text;
  return text;
}

/// Keeps the sentence, and returns the code.
template <class... Parts>
aclError fail(aclError code, const Parts&... parts) {
  recent_error() = hccl::detail::concat(parts...);
  return code;
}

/// Calls `f`, whose exceptions become codes: a C program cannot catch them.
template <class F>
aclError guarded(std::string_view call, F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return ACL_ERROR_BAD_ALLOC;
  } catch (const std::exception& e) {
    return fail(ACL_ERROR_INVALID_PARAM, call, ": ", std::string_view(e.what()));
  }
}

}  // namespace acl_sim
