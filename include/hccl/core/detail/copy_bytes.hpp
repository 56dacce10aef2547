// SPDX-License-Identifier: Apache-2.0
#pragma once

// The copy of many bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hccl::inline v0::detail {

/// Copies as `memcpy` does, but for one case: the string instructions, which the C library takes from some kilobytes
/// on, are slower by a factor of twenty on some processors (seen on AMD EPYC) if the target lies up to 31 bytes behind
/// the source, modulo 4096. There the copy goes in pieces for which it takes vector instructions.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t size) {
  constexpr std::size_t page = 4096, short_piece = 2048, vector = 32;
  const std::size_t distance =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page;
  const std::size_t piece = distance - 1 < vector - 1 ? short_piece : std::max<std::size_t>(size, 1);
  for (std::size_t done = 0; done < size; done += piece)
    std::memcpy(to + done, from + done, std::min(piece, size - done));
}

}  // namespace hccl::inline v0::detail
