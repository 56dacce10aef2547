// SPDX-License-Identifier: Apache-2.0

#include <hccl/bootstrap/connect.hpp>
#include <hccl/collectives.hpp>
#include <hccl/transport/host.hpp>

#include <cstdio>

int main() {
  try {
    auto comm = hccl::connect<hccl::HostTransport>();  // rank, size and meeting point from the launcher
    double data[] = {1.5 * comm.rank()};
    hccl::allreduce<double, hccl::Max, hccl::Ring>(comm, data);
    std::printf("rank %d of %d: %g\n", comm.rank(), comm.size(), data[0]);
  } catch (const hccl::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
