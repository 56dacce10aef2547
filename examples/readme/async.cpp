// SPDX-License-Identifier: Apache-2.0

// The program of docs/concepts.md: a collective in the background.

#include <hccl/collective/async.hpp>
#include <hccl/collectives.hpp>

#include <cstdio>
#include <utility>
#include <vector>

int main() {
  hccl::run_local(4, [](auto& comm) {
    hccl::operation_queue queue(std::move(comm));
    std::vector<float> gradients(1000, 1.0f);
    const hccl::request sum = hccl::async::allreduce(queue, gradients);
    double work = 0;
    for (int i = 1; i < 1000; ++i) work += 1.0 / i;  // goes on meanwhile
    sum.wait();
    if (queue.rank() == 0) std::printf("%g %.1f\n", gradients[0], work);
  });
}
