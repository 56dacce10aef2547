// SPDX-License-Identifier: Apache-2.0

// The transport between NPUs compiles over the signatures of CANN. It is not linked: there is no CANN here.

#include <hccl/collectives.hpp>
#include <hccl/memory/ascend_allocator.hpp>
#include <hccl/memory/cann_runtime.hpp>
#include <hccl/memory/device_buffer.hpp>
#include <hccl/transport/ascend.hpp>

using Npus = hccl::AscendTransport<hccl::CannRuntime>;
static_assert(hccl::check_transport<Npus>() && hccl::DeviceTransport<Npus>);

void average(hccl::communicator<Npus>& comm,
             hccl::device_buffer<float, hccl::AscendAllocator<hccl::CannRuntime>>& gradients) {
  hccl::allreduce<float, hccl::Sum, hccl::Ring>(comm, gradients);
  hccl::allreduce(comm, gradients, hccl::Average());
}
