// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a call of the HCCL API fails: with a result, and a sentence.

#include <hccl/core/error.hpp>
#include <hccl/hccl_types.h>

#include <acl/acl.h>

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace c_api {

/// A result other than success, and why.
struct failure {
  HcclResult result = HCCL_SUCCESS;
  std::string why;
};

/// What a call throws that knows its result.
class refusal : public std::runtime_error {
 public:
  template <class... Parts>
  explicit refusal(HcclResult result, const Parts&... parts)
      : std::runtime_error(hccl::detail::concat(parts...)), result_(result) {}

  HcclResult result() const { return result_; }

 private:
  HcclResult result_;
};

/// What went wrong in this thread last.
inline std::string& last_error() {
  static thread_local std::string text;
  return text;
}

/// The result that stands for an error of the library.
inline HcclResult result_of(hccl::errc kind) {
  switch (kind) {
    case hccl::errc::timeout:
      return HCCL_E_TIMEOUT;
    case hccl::errc::peer_lost:
    case hccl::errc::aborted:
      return HCCL_E_REMOTE;
    case hccl::errc::mismatch:
    case hccl::errc::invalid_argument:
      return HCCL_E_PARA;
    case hccl::errc::unsupported:
    case hccl::errc::version_mismatch:
      return HCCL_E_NOT_SUPPORT;
    case hccl::errc::bootstrap_failed:
    case hccl::errc::authentication_failed:
      return HCCL_E_TCP_CONNECT;
    case hccl::errc::out_of_memory:
      return HCCL_E_OOM;
    case hccl::errc::device_failed:
      return HCCL_E_RUNTIME;
  }
  return HCCL_E_INTERNAL;
}

/// What the exception that is handled says.
inline failure current_failure() {
  try {
    throw;
  } catch (const refusal& e) {
    return {e.result(), e.what()};
  } catch (const hccl::error& e) {
    return {result_of(e.kind()), e.what()};
  } catch (const std::bad_alloc&) {
    return {HCCL_E_OOM, "no memory is left"};
  } catch (const std::exception& e) {
    return {HCCL_E_INTERNAL, e.what()};
  } catch (...) {
    return {HCCL_E_INTERNAL, "an exception of unknown type"};
  }
}

/// Calls `f`, whose exceptions become results with a sentence: a C program cannot catch them.
template <class F>
HcclResult guarded(std::string_view call, F&& f) noexcept {
  try {
    f();
    return HCCL_SUCCESS;
  } catch (...) {
    auto [result, why] = current_failure();
    last_error() = hccl::detail::concat(call, ": ", why);
    return result;
  }
}

/// What an argument points to. Throws HCCL_E_PTR.
template <class T>
T& not_null(std::string_view argument, T* pointer) {
  if (pointer == nullptr) throw refusal(HCCL_E_PTR, argument, " is null");
  return *pointer;
}

/// Throws HCCL_E_RUNTIME unless a call of AscendCL has succeeded.
inline void expect_success(aclError code, std::string_view call) {
  if (code == ACL_SUCCESS) return;
  const char* const why = aclGetRecentErrMsg();
  throw refusal(HCCL_E_RUNTIME, call, " has failed with ", code, ": ",
                std::string_view(why == nullptr ? "no reason is given" : why));
}

/// The context of this thread. Throws HCCL_E_RUNTIME if no device is set.
inline aclrtContext current_context() {
  aclrtContext context = nullptr;
  if (aclrtGetCurrentContext(&context) != ACL_SUCCESS)
    throw refusal(HCCL_E_RUNTIME, "device not set: call aclrtSetDevice in this thread first");
  return context;
}

/// The device of this thread. Throws as `current_context`.
inline std::int32_t current_device() {
  static_cast<void>(current_context());
  std::int32_t device = 0;
  expect_success(aclrtGetDevice(&device), "aclrtGetDevice");
  return device;
}

}  // namespace c_api
