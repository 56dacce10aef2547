// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport_conformance.hpp"

#include <hccl/transport/shm.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

struct ShmHarness {
  static std::vector<hccl::ShmTransport> make(int ranks) {
    std::vector<hccl::ShmTransport::listener> listeners(static_cast<std::size_t>(ranks));
    std::vector<std::string> addresses;
    for (const auto& own : listeners) addresses.push_back(own.address());
    std::vector<hccl::ShmTransport> transports;
    for (auto& own : listeners)
      transports.emplace_back(std::move(own), static_cast<int>(transports.size()), ranks, addresses);
    return transports;
  }
};

}  // namespace

TEST_CASE("ShmTransport conforms") { hccl_test::check_conformance<ShmHarness>(); }
