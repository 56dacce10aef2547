// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the ranks of a communicator come together.

#include "communicator.hpp"
#include "config.hpp"
#include "root_info.hpp"

#include <cstdint>
#include <string>

namespace c_api {

/// Makes this thread's device rank `rank` of `size`, which meet at `store`. Blocks until all have come. `name`: how the
/// communicator is called unless `wanted` says; the same on all ranks.
///
/// Throws as hccl::connect, HCCL_E_RUNTIME if no device is set, HCCL_E_PARA if two ranks use one device, or call the
/// communicator differently, or if this device has one of that name already.
HcclComm join(int rank, int size, const std::string& store, const std::string& name, const config& wanted);

/// As `join`, at a meeting, which ends with it.
HcclComm join_at(const meeting& place, int rank, int size, const std::string& name, const config& wanted);

/// What tells the job of a launcher from others, "" without one.
std::string launched_job();

/// The number of ranks in a call. Throws HCCL_E_PARA for 0, for too many, and for a rank that is not below it.
int checked_size(std::uint32_t size, std::uint32_t rank);

}  // namespace c_api
