// SPDX-License-Identifier: Apache-2.0

// The program of docs/devices.md: threads with an NPU each.

#include <hccl/bootstrap/run_local.hpp>
#include <hccl/collectives.hpp>
#include <hccl/memory/ascend_allocator.hpp>
#include <hccl/memory/device_buffer.hpp>
#include <hccl/memory/simulated_runtime.hpp>
#include <hccl/transport/ascend.hpp>

#include <acl/acl.h>

#include <cstdio>
#include <span>
#include <vector>

using Runtime = hccl::SimulatedRuntime;  // or CannRuntime
using Npus = hccl::AscendTransport<Runtime>;
template <class T>
using npu_buffer = hccl::device_buffer<T, hccl::AscendAllocator<Runtime>>;

int main() {
  aclInit(nullptr);
  hccl::run_local(Npus::world(4), [](hccl::communicator<Npus>& comm) {  // rank r has NPU r
    const std::vector<float> ones(1000, 1.0f);
    npu_buffer<float> gradients{std::span(ones)};
    hccl::allreduce<float, hccl::Sum, hccl::Ring>(comm, gradients);
    std::vector<float> sum(1);
    gradients.read(sum);
    if (comm.rank() == 0) std::printf("%g\n", sum[0]);
  });
  aclFinalize();
}
