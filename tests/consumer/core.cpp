// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <cstdio>
#include <stdexcept>

int sum_of_ranks(int ranks);  // in the second unit, which includes the same headers

int main() {
  hccl::run_local(3, [](hccl::communicator<hccl::LocalTransport>& comm) {
    float value[] = {static_cast<float>(comm.rank() + 1)};
    hccl::allreduce<float, hccl::Product, hccl::Ring>(comm, value);
    if (value[0] != 6) throw std::runtime_error("1 * 2 * 3 is 6");
  });
  std::printf("%d\n", sum_of_ranks(4));
  return sum_of_ranks(4) == 6 ? 0 : 1;
}
