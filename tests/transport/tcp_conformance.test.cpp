// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport_conformance.hpp"

#include <hccl/transport/tcp.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

struct TcpHarness {
  static std::vector<hccl::TcpTransport> make(int ranks) {
    std::vector<hccl::TcpTransport::listener> listeners(static_cast<std::size_t>(ranks));
    std::vector<std::string> addresses;
    for (const auto& bound : listeners) addresses.push_back(bound.address());
    std::vector<hccl::TcpTransport> transports;
    for (auto& bound : listeners) {
      transports.emplace_back(std::move(bound), static_cast<int>(transports.size()), ranks, addresses, "job");
    }
    return transports;
  }
};

}  // namespace

TEST_CASE("TcpTransport conforms") { hccl_test::check_conformance<TcpHarness>(); }
