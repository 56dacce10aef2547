// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the bandwidth of a link follows from that of a collective.

#include <string_view>

namespace perf {

/// busbw / algbw, as in nccl-tests.
inline double bus_factor(std::string_view collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (collective == "allreduce") return 2 * others;
  return collective == "broadcast" || collective == "reduce" ? 1 : others;
}

}  // namespace perf
