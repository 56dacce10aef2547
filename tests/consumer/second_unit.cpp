// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <atomic>

int sum_of_ranks(int ranks) {
  std::atomic<int> result = 0;
  hccl::run_local(ranks, [&](hccl::communicator<hccl::LocalTransport>& comm) {
    int value[] = {comm.rank()};
    hccl::allreduce(comm, value);
    result = value[0];
  });
  return result;
}
