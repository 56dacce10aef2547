// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>
#include <hccl/memory/ascend_allocator.hpp>
#include <hccl/memory/device_buffer.hpp>
#include <hccl/memory/simulated_runtime.hpp>
#include <hccl/transport/ascend.hpp>

#include <acl/acl.h>

#include <span>
#include <vector>

int main() {
  using Npus = hccl::AscendTransport<hccl::SimulatedRuntime>;
  if (aclInit(nullptr) != ACL_SUCCESS) return 1;
  hccl::communicator<Npus> comm(Npus::world(1).transport(0));
  const std::vector<float> values{1, 2, 3};
  std::vector<float> found(3);
  hccl::device_buffer<float, hccl::AscendAllocator<hccl::SimulatedRuntime>> data{std::span(values)};
  hccl::allreduce(comm, data);
  data.read(found);
  return found == values ? aclFinalize() : 1;
}
