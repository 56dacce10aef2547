// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstdio>

int main() {
  hccl::run_local(3, [](auto& comm) {
    comm.set_timeout(std::chrono::seconds(5));
    if (comm.rank() == 2) return;  // leaves without a word
    float loss[] = {0.25f};
    try {
      hccl::allreduce(comm, loss);
    } catch (const hccl::error& e) {
      if (e.kind() != hccl::errc::peer_lost && e.kind() != hccl::errc::aborted) throw;
      std::printf("rank %d goes on without rank %d\n", comm.rank(), e.failed_rank());
    }
  });
}
