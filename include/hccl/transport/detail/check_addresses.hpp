// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every transport between processes asks of the addresses that it is made of.

#include <hccl/core/error.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace hccl::inline v0::detail {

/// Throws `invalid_argument` unless `rank` is one of `size` ranks and each has an address.
inline void check_addresses(int rank, int size, const std::vector<std::string>& addresses) {
  if (rank >= 0 && rank < size && addresses.size() == static_cast<std::size_t>(size)) return;
  throw error(errc::invalid_argument,
              concat("rank ", rank, " of ", size, " with the addresses of ", addresses.size(), " ranks"));
}

}  // namespace hccl::inline v0::detail
