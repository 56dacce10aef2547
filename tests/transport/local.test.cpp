// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport_conformance.hpp"

#include <hccl/transport/local.hpp>

#include <vector>

TEST_CASE("LocalTransport is a transport") {
  hccl_test::check_conformance([](int ranks) {
    const hccl::LocalTransport::world world(ranks);
    std::vector<hccl::LocalTransport> nets;
    for (int rank = 0; rank < ranks; ++rank) nets.push_back(world.transport(rank));
    return nets;
  });
}
