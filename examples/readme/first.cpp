// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <cstdio>

int main() {
  hccl::run_local(4, [](auto& comm) {  // four ranks, each a thread
    int data[] = {comm.rank(), 10 * comm.rank()};
    hccl::allreduce(comm, data);  // in place, with Sum
    std::printf("rank %d: %d %d\n", comm.rank(), data[0], data[1]);
  });
}
