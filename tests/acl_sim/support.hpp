// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the simulated AscendCL share.

#include <acl/acl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace acl_test {

/// The sentence of the last failure in this thread.
inline std::string last_error() {
  const char* const text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

/// Tells whether a call failed with a code and a sentence that has these words.
inline bool failed(aclError result, aclError code, std::string_view words) {
  return result == code && last_error().find(words) != std::string::npos;
}

/// Runs `f` in a process of its own, where nothing of AscendCL has been used; its status as wait tells it.
template <class F>
int in_process(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// Device memory with values in it.
template <class T>
class device_array {
 public:
  explicit device_array(const std::vector<T>& values) : count_(values.size()) {
    aclrtMalloc(&memory_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(memory_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE);
  }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  ~device_array() { aclrtFree(memory_); }

  void* get() const { return memory_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> values() const {
    std::vector<T> found(count_);
    aclrtMemcpy(found.data(), bytes(), memory_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST);
    return found;
  }

 private:
  void* memory_ = nullptr;
  std::size_t count_;
};

}  // namespace acl_test
