// SPDX-License-Identifier: Apache-2.0
#pragma once

// What operators work with: a communicator of the library, in a thread of its own, and host memory.

#include "desk.hpp"

#include <hccl/collective/queue.hpp>
#include <hccl/transport/host.hpp>

#include <utility>

namespace c_api {

using transport = hccl::HostTransport;

/// What an operator is given when its turn has come.
struct workplace {
  hccl::communicator<transport>& comm;
  desk &input, &output;
};

/// Where the operators of a communicator run, one after the other.
struct worker {
  explicit worker(hccl::communicator<transport> comm) : queue(std::move(comm)) {}

  desk input, output;
  hccl::operation_queue<transport> queue;  // the last member: it ends first
};

}  // namespace c_api
