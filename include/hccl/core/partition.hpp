// SPDX-License-Identifier: Apache-2.0
// How a buffer is cut into balanced blocks.
#pragma once

#include <algorithm>
#include <cstddef>

namespace hccl::inline v0 {

/// A half-open range of elements, `[offset, offset + count)`.
struct extent {
  std::size_t offset = 0;
  std::size_t count = 0;

  friend constexpr bool operator==(extent, extent) = default;
};

/// Returns part `index` of `count` elements cut into `parts` balanced parts: the first `count % parts` hold
/// one element more. Pure, O(1). Requires `0 <= index < parts`.
constexpr extent partition(std::size_t count, std::size_t parts, std::size_t index) {
  const std::size_t quotient = count / parts;
  const std::size_t remainder = count % parts;
  return {index * quotient + std::min(index, remainder), quotient + (index < remainder ? 1 : 0)};
}

}  // namespace hccl::inline v0
