// SPDX-License-Identifier: Apache-2.0
#pragma once

// HostTransport: shared memory inside hosts, TCP between them. Needs Boost.Asio (target hccl::tcp). Linux.

#include <hccl/transport/hybrid.hpp>
#include <hccl/transport/shm.hpp>
#include <hccl/transport/tcp.hpp>

namespace hccl::inline v0 {

/// Moves bytes through shared memory between ranks of a host, and by TCP between hosts.
using HostTransport = HybridTransport<ShmTransport, TcpTransport>;

static_assert(SharedAddressTransport<HostTransport>);

}  // namespace hccl::inline v0
