// SPDX-License-Identifier: Apache-2.0

#include "socket_transport.hpp"

#include <hccl/collectives.hpp>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

int main() {
  const auto world = std::make_shared<SocketWorld>(3);
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < world->size(); ++rank) {
    ranks.emplace_back([=] {
      hccl::communicator comm(SocketTransport(world, rank));
      std::vector<float> data(100'000, static_cast<float>(rank));
      hccl::allreduce<float, hccl::Max, hccl::Ring>(comm, data);
      std::printf("rank %d: %g\n", rank, data[0]);
    });
  }
}
