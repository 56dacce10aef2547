// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a transport says of its speed.

namespace hccl::inline v0 {

/// What the price of an algorithm on a transport is made of. The ranks of a host share the link of the host to
/// other hosts. Who does not know that link leaves its figures out: then it is as fast as that of one rank.
struct link_model {
  double latency = 1e-6;            ///< seconds until the first byte arrives
  double overhead = 2e-7;           ///< seconds of work per message on each side
  double seconds_per_byte = 1e-10;  ///< time on the wire; the messages of a rank share it
  double reduction = 1e-10;         ///< seconds per byte reduced

  double host_latency = latency;                    ///< between hosts
  double host_seconds_per_byte = seconds_per_byte;  ///< of the link of a host, in each direction

  bool is_copied =
      false;  ///< by the rank itself inside a host, so that what it sends and what it gets add up
};

}  // namespace hccl::inline v0
