// SPDX-License-Identifier: Apache-2.0

// The program of docs/direct.md: processes that work in each other's buffers.

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/shm.hpp>

#include <cstdio>

int main() {
  hccl::run_processes<hccl::ShmTransport>(4, [](auto& comm) {
    hccl::shared_vector<float> gradients(1 << 20, 1.0f);
    hccl::allreduce(comm, gradients);  // nothing is copied on the way
    if (comm.rank() == 0) std::printf("%g\n", gradients[0]);
  });
}
