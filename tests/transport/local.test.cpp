// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport_conformance.hpp"

#include <hccl/transport/local.hpp>

#include <vector>

namespace {

struct LocalHarness {
  static std::vector<hccl::LocalTransport> make(int ranks) {
    const hccl::LocalTransport::world world(ranks);
    std::vector<hccl::LocalTransport> transports;
    for (int rank = 0; rank < ranks; ++rank) transports.push_back(world.transport(rank));
    return transports;
  }
};

}  // namespace

TEST_CASE("LocalTransport conforms") { hccl_test::check_conformance<LocalHarness>(); }

TEST_CASE("a LocalTransport of its own is a world of one rank") {
  const hccl::LocalTransport alone;
  CHECK(alone.rank() == 0);
  CHECK(alone.size() == 1);
}

TEST_CASE("a local world needs a rank") { CHECK_THROWS_AS(hccl::LocalTransport::world(0), hccl::error); }

TEST_CASE("a local world has no rank outside") {
  const hccl::LocalTransport::world world(2);
  CHECK(world.transport(1).rank() == 1);
  CHECK_THROWS_AS(world.transport(2), hccl::error);
  CHECK_THROWS_AS(world.transport(-1), hccl::error);
}
