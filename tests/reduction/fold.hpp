// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reduces the contributions of several ranks the way a collective does, one after the other.

#include <hccl/reduction/concept.hpp>

#include <cstddef>
#include <vector>

template <class Op, class T>
T fold(const Op& op, const std::vector<T>& contributions) {
  const int ranks = static_cast<int>(contributions.size());
  using A = hccl::accumulator_t<Op, T>;
  A result = hccl::prepare(op, T{contributions.front()}, ranks);
  for (std::size_t i = 1; i < contributions.size(); ++i) {
    result = static_cast<A>(op(result, hccl::prepare(op, T{contributions[i]}, ranks)));
  }
  return hccl::finish<T>(op, result, ranks);
}
