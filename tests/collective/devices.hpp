// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranks with simulated NPUs.

#include "collective/errors.hpp"
#include "timing.hpp"

#include <hccl/bootstrap/run_local.hpp>
#include <hccl/collectives.hpp>
#include <hccl/memory/ascend_allocator.hpp>
#include <hccl/memory/device_buffer.hpp>
#include <hccl/memory/simulated_runtime.hpp>
#include <hccl/transport/ascend.hpp>

#include <acl/acl.h>

#include <cstddef>
#include <vector>

namespace hccl_test {

using Npus = hccl::AscendTransport<hccl::SimulatedRuntime>;
using OnNpu = hccl::AscendAllocator<hccl::SimulatedRuntime>;

template <class T>
using npu_buffer = hccl::device_buffer<T, OnNpu>;

/// The number of simulated devices.
inline constexpr int device_count = 8;

/// Runs f(comm) on a thread for each of `ranks` ranks; rank r has device r modulo 8.
template <class Net = Npus, class F>
void run_on_npus(int ranks, F&& f) {
  std::vector<int> devices;
  for (int r = 0; r < ranks; ++r) devices.push_back(r % device_count);
  hccl::run_local(typename Net::world(devices), [&](hccl::communicator<Net>& comm) {
    comm.set_timeout(patience);
    f(comm);
  });
}

/// The same; the outcome of each rank.
template <class F>
std::vector<Outcome> outcomes_on_npus(int ranks, F&& f) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  run_on_npus(ranks, [&](hccl::communicator<Npus>& comm) {
    outcomes[static_cast<std::size_t>(comm.rank())] = outcome_of([&] { f(comm); });
  });
  return outcomes;
}

/// The elements of a buffer of a device.
template <class T, class Allocator>
std::vector<T> values_of(const hccl::device_buffer<T, Allocator>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.read(values);
  return values;
}

}  // namespace hccl_test
