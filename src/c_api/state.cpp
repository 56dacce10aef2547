// SPDX-License-Identifier: Apache-2.0

// The HCCL API: what a process and its communicators are set to.

#include "communicator.hpp"
#include "last_error.hpp"

#include <hccl/hccl_comm.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace c_api;

/// What HcclSetConfig has set, else what HCCL_DETERMINISTIC says.
std::atomic<std::int32_t>& deterministic() {
  static std::atomic<std::int32_t> value = [] {
    const char* const text = std::getenv("HCCL_DETERMINISTIC");
    const std::string_view said = text == nullptr ? "" : text;
    return said == "strict" ? 2 : said == "true" ? 1 : 0;
  }();
  return value;
}

void expect_deterministic(HcclConfig config) {
  if (config != HCCL_DETERMINISTIC)
    throw refusal(HCCL_E_PARA, "config is ", static_cast<int>(config), ", expected HCCL_DETERMINISTIC");
}

}  // namespace

extern "C" {

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return guarded("HcclSetConfig", [&] {
    expect_deterministic(config);
    if (configValue.value < 0 || configValue.value > 2)
      throw refusal(HCCL_E_PARA, "configValue is ", configValue.value, ", expected 0 to 2");
    deterministic() = configValue.value;
  });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  return guarded("HcclGetConfig", [&] {
    expect_deterministic(config);
    not_null("configValue", configValue).value = deterministic();
  });
}

HcclResult HcclCommSuspend(HcclComm comm) {
  return guarded("HcclCommSuspend", [&] { communicators::instance().find(comm)->suspend(true); });
}

HcclResult HcclCommResume(HcclComm comm) {
  return guarded("HcclCommResume", [&] { communicators::instance().find(comm)->suspend(false); });
}

HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status) {
  return guarded("HcclCommGetStatus", [&] {
    const std::string_view name = &not_null("commId", commId);
    HcclCommStatus& found = not_null("status", status);
    auto& known = communicators::instance();
    HcclComm const comm = known.named(name, current_context());
    found = comm == nullptr                    ? HCCL_COMM_STATUS_INVALID
            : known.find(comm)->is_suspended() ? HCCL_COMM_STATUS_SUSPENDING
                                               : HCCL_COMM_STATUS_READY;
  });
}

}  // extern "C"
