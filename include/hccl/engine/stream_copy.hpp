// SPDX-License-Identifier: Apache-2.0
#pragma once

// A copy that goes past the cache.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hccl::inline v0::detail {

/// Copies memory that will not be read soon: the lines of `to` are not fetched first, and push nothing out of the
/// cache. What is released afterwards is seen after it, as after any store.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t size) {
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (size >= head + line) {
    std::memcpy(to, from, head);
    to += head, from += head, size -= head;
    for (; size >= line; size -= line, to += line, from += line) {
      __m128i words[4];
      for (int i = 0; i < 4; ++i) words[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
      for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, words[i]);
    }
    _mm_sfence();
  }
#endif
  if (size > 0) std::memcpy(to, from, size);
}

}  // namespace hccl::inline v0::detail
