// SPDX-License-Identifier: Apache-2.0

// AscendCL, simulated: beginning and end, errors, versions.

#include "call.hpp"

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

namespace {

using namespace acl_sim;

/// The version of AscendCL of which this is the behaviour.
constexpr const char* cann_version = "9.2.0";
constexpr std::int32_t cann_number = 9'02'00'000;
constexpr std::size_t version_length = 128;

bool is_package(const char* name) {
  for (const char* known : {"runtime", "hccl", "hcomm", "driver", "firmware"}) {
    if (std::strcmp(name, known) == 0) return true;
  }
  return false;
}

}  // namespace

extern "C" {

aclError aclInit(const char* config) {
  return on_machine("aclInit", [&](machine& m) {
    if (config != nullptr && *config != '\0' && !std::filesystem::is_regular_file(config))
      return fail(ACL_ERROR_INVALID_FILE, "aclInit: there is no file ", std::string_view(config));
    if (!m.set_initialized(true)) return fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: was called before");
    return ACL_SUCCESS;
  });
}

aclError aclFinalize(void) {
  return on_machine("aclFinalize", [](machine& m) {
    if (!m.set_initialized(false))
      return fail(ACL_ERROR_REPEAT_FINALIZE,
                  "aclFinalize: aclInit was not called, or this was called before");
    return ACL_SUCCESS;
  });
}

const char* aclGetRecentErrMsg(void) {
  static thread_local std::string told;
  told = std::exchange(recent_error(), {});
  return told.empty() ? nullptr : told.c_str();
}

aclError aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr)
    return null_argument("aclrtGetVersion", "a pointer");
  *major = ACL_MAJOR_VERSION;
  *minor = ACL_MINOR_VERSION;
  *patch = ACL_PATCH_VERSION;
  return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char* package, char* version) {
  if (package == nullptr || version == nullptr) return null_argument("aclsysGetVersionStr", "a pointer");
  if (!is_package(package))
    return fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr: there is no package ",
                std::string_view(package));
  std::strncpy(version, cann_version, version_length);
  return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char* package, std::int32_t* number) {
  if (package == nullptr || number == nullptr) return null_argument("aclsysGetVersionNum", "a pointer");
  if (!is_package(package))
    return fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionNum: there is no package ",
                std::string_view(package));
  *number = cann_number;
  return ACL_SUCCESS;
}

}  // extern "C"
