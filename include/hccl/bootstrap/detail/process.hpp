// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who a process is: for messages, and to tell a living process from one that has gone. Linux.

#include <hccl/core/error.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

namespace hccl::inline v0::detail {

inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// "host:pid" of this process.
inline std::string process_name() { return concat(host_name(), ':', ::getpid()); }

/// When a process of this host was started, in the kernel's ticks; empty when there is none. With the pid it
/// names one process for ever.
inline std::string start_time(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(')');  // the program's name may hold anything
  if (name_end == text.npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return field;
}

/// 32 characters that nobody else has.
inline std::string random_name() {
  constexpr char digits[] = "0123456789abcdef";
  std::random_device device;
  std::string name;
  while (name.size() < 32) name += digits[device() % 16];
  return name;
}

}  // namespace hccl::inline v0::detail
