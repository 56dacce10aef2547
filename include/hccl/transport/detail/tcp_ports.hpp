// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ports at which this host may listen.

#include <hccl/core/error.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

namespace hccl::inline v0::detail {

/// Reads ports and ranges of them: "60000,60050-60100"; empty or "auto" is 0, which stands for any free one. Throws
/// invalid_argument, which names the variable.
inline std::vector<std::uint16_t> read_ports(std::string_view text, std::string_view variable) {
  if (text.empty() || text == "auto") return {0};
  const auto fail = [&] {
    throw error(errc::invalid_argument,
                concat(variable, "='", text,
                       "': expected ports and ranges from 1 to 65535, as 60000,60050-60100, or auto"));
  };
  const auto number = [&](std::string_view digits) {
    std::uint16_t port = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (failure != std::errc() || end != digits.data() + digits.size() || port == 0) fail();
    return port;
  };
  std::vector<std::uint16_t> ports;
  for (std::string_view rest = text;;) {
    const auto end = rest.find(',');
    const std::string_view part = rest.substr(0, end);
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash)),
               last = dash == part.npos ? first : number(part.substr(dash + 1));
    if (first > last) fail();
    for (unsigned port = first; port <= last; ++port) ports.push_back(static_cast<std::uint16_t>(port));
    if (end == rest.npos) return ports;
    rest.remove_prefix(end + 1);
  }
}

/// Those of HCCL_HOST_SOCKET_PORT_RANGE.
inline std::vector<std::uint16_t> ports_from_environment() {
  constexpr const char* variable = "HCCL_HOST_SOCKET_PORT_RANGE";
  const char* const text = std::getenv(variable);
  return read_ports(text == nullptr ? "" : text, variable);
}

/// Calls f(port) for each port until it does not throw; throws the last failure `Error`.
template <class Error>
void at_first_free(const std::vector<std::uint16_t>& ports, auto&& f) {
  for (std::size_t i = 0;; ++i) {
    try {
      return f(ports[i]);
    } catch (const Error&) {
      if (i + 1 == ports.size()) throw;
    }
  }
}

}  // namespace hccl::inline v0::detail
