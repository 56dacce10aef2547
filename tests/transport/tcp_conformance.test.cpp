// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport_conformance.hpp"

#include <hccl/transport/tcp.hpp>

#include <string>
#include <utility>
#include <vector>

using hccl::TcpTransport;

namespace {

std::vector<TcpTransport> make_world(const std::string& host, int ranks) {
  std::vector<TcpTransport::listener> listeners;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < ranks; ++rank) {
    addresses.push_back(listeners.emplace_back(host, hccl::detail::interface_wishes{}).address());
  }
  std::vector<TcpTransport> nets;
  for (auto& own : listeners) {
    const int rank = static_cast<int>(nets.size());
    nets.emplace_back(std::move(own), rank, ranks, addresses, "conformance");
  }
  return nets;
}

bool have_ipv6() {
  try {
    return !make_world("::1", 1).empty();
  } catch (const hccl::error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("TcpTransport is a transport over IPv4") {
  hccl_test::check_conformance([](int ranks) { return make_world("127.0.0.1", ranks); });
}

TEST_CASE("TcpTransport is a transport over IPv6") {
  if (!have_ipv6()) return;
  hccl_test::check_conformance([](int ranks) { return make_world("::1", ranks); });
}
