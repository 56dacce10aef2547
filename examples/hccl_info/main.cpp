// SPDX-License-Identifier: Apache-2.0

// hccl-info: what there is on this host, and what the environment has set.

#include <hccl/hccl.h>
#include <hccl/memory/cann_runtime.hpp>
#include <hccl/transport/ascend.hpp>
#include <hccl/transport/host.hpp>
#include <hccl/transport/local.hpp>
#include <hccl/version.hpp>

#include <acl/acl.h>
#include <c_api/settings.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// Rows of cells under a title, in columns as wide as their widest.
class table {
 public:
  explicit table(std::vector<std::string> head) : rows_{std::move(head)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print(std::string_view title) const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string line = "+";
    for (const std::size_t width : widths) line += std::string(width + 2, '-') + '+';
    fmt::print("\n{}\n{}\n", title, line);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t i = 0; i < rows_[r].size(); ++i) fmt::print("| {:{}} ", rows_[r][i], widths[i]);
      fmt::print("|\n");
      if (r == 0) fmt::print("{}\n", line);
    }
    fmt::print("{}\n", line);
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string gib(std::size_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

void print_versions() {
  table versions({"part", "version"});
  versions.add(
      {"hccl", fmt::format("{}.{}.{}", HCCLPP_VERSION_MAJOR, HCCLPP_VERSION_MINOR, HCCLPP_VERSION_PATCH)});
  std::int32_t major = 0, minor = 0, patch = 0;
  if (aclrtGetVersion(&major, &minor, &patch) == ACL_SUCCESS)
    versions.add({"AscendCL", fmt::format("{}.{}.{}", major, minor, patch)});
  versions.add({"AscendCL is", ASCENDCL_IS});
  versions.print("Versions");
}

/// Returns whether all could be asked.
bool print_devices() {
  std::uint32_t count = 0;
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtGetDeviceCount(&count) != ACL_SUCCESS) {
    const char* const why = aclGetRecentErrMsg();
    fmt::print(stderr, "hccl-info: {}\n", why == nullptr ? "AscendCL tells no devices" : why);
    return false;
  }
  table devices({"device", "kind", "memory free", "memory"});
  for (std::uint32_t id = 0; id < count; ++id) {
    std::size_t free = 0, total = 0;
    const auto device = static_cast<std::int32_t>(id);
    const bool is_told =
        aclrtSetDevice(device) == ACL_SUCCESS && aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS;
    const char* const kind = aclrtGetSocName();
    devices.add({std::to_string(id), kind == nullptr ? "" : kind, is_told ? gib(free) : "?",
                 is_told ? gib(total) : "?"});
    aclrtResetDevice(device);
  }
  devices.print("Devices");
  aclFinalize();
  return true;
}

void print_transports() {
  table transports({"transport", "between"});
  transports.add({std::string(hccl::LocalTransport::name), "threads of a process"});
  transports.add({std::string(hccl::ShmTransport::name), "processes of a host"});
  transports.add({std::string(hccl::TcpTransport::name), "processes of several hosts"});
  transports.add(
      {std::string(hccl::HostTransport::name), "shm inside hosts, tcp between them; that of the HCCL API"});
  transports.add({std::string(hccl::AscendTransport<hccl::CannRuntime>::name), "NPUs of a process"});
  transports.print("Transports");
}

/// Returns whether all are right.
bool print_settings() {
  table settings({"variable", "value", "origin", "meaning"});
  bool are_right = true;
  for (const c_api::setting& s : c_api::all_settings()) {
    const std::string value = s.value();
    const bool is_right = value.empty() || s.is_valid(value);
    are_right &= is_right;
    const auto [effective, origin] = s.in_effect();
    settings.add({s.name, effective, origin,
                  is_right ? std::string(s.meaning) : fmt::format("WRONG: expected {}", s.expected)});
  }
  settings.print("Settings");
  return are_right;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    fmt::print(stderr, "usage: hccl-info\n");
    return 2;
  }
  print_versions();
  const bool has_devices = print_devices();
  print_transports();
  const bool are_right = print_settings();
  return has_devices && are_right ? 0 : 1;
}
