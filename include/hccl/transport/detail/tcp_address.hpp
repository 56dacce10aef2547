// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses as text: "127.0.0.1:41234", "[::1]:41234", "host:41234".

#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>

#include <charconv>
#include <string>
#include <string_view>

namespace hccl::inline v0::detail {

struct host_and_port {
  std::string host;
  unsigned short port;
};

/// Takes "host:port" or "[v6 address]:port" apart; throws invalid_argument.
inline host_and_port split_address(std::string_view text) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto digits = colon == text.npos ? std::string_view() : text.substr(colon + 1);
  unsigned short port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (host.empty() || digits.empty() || failure != std::errc() || end != digits.data() + digits.size()) {
    throw error(errc::invalid_argument,
                concat("'", text, "' is not host:port, such as 127.0.0.1:29500 or [::1]:29500"));
  }
  return {std::string(host), port};
}

inline std::string to_text(const tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? concat('[', host, "]:", endpoint.port())
                                    : concat(host, ':', endpoint.port());
}

/// Looks a host name up, or reads a numeric address; throws bootstrap_failed. IPv4 comes first, as launchers
/// expect.
inline tcp::endpoint look_up(asio::io_context& io, const host_and_port& address) {
  asio_error failure;
  const auto numeric = asio::ip::make_address(address.host, failure);
  if (!failure) return {numeric, address.port};
  const auto found = tcp::resolver(io).resolve(address.host, std::to_string(address.port), failure);
  if (failure) {
    throw error(errc::bootstrap_failed,
                concat("cannot look up host '", address.host, "': ", failure.message()));
  }
  for (const auto& entry : found) {
    if (entry.endpoint().address().is_v4()) return entry.endpoint();
  }
  return found.begin()->endpoint();
}

}  // namespace hccl::inline v0::detail
