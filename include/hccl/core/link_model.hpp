// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a transport says of its speed.

namespace hccl::inline v0 {

/// What the price of an algorithm on a transport is made of.
struct link_model {
  double latency = 1e-6;            ///< seconds until the first byte arrives
  double overhead = 2e-7;           ///< seconds of work per message on each side
  double seconds_per_byte = 1e-10;  ///< time on the wire; the messages of a rank share it
  double reduction = 1e-10;         ///< seconds per byte reduced
};

}  // namespace hccl::inline v0
