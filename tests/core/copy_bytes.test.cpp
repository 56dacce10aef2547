// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/engine/stream_copy.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace {

/// Counts the copies that go wrong, for every distance of source and target within a page.
int wrong_copies(void (*copy)(std::byte*, const std::byte*, std::size_t)) {
  constexpr std::size_t room = 20'000;
  std::vector<std::byte> from(room), to(room);
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  int wrong = 0;
  for (std::size_t distance = 0; distance < 4096; distance += distance < 200 ? 1 : 61) {
    for (const std::size_t size : {0u, 1u, 63u, 64u, 2047u, 2048u, 2049u, 10'000u}) {
      std::ranges::fill(to, std::byte{0xee});
      copy(to.data() + distance, from.data() + 5, size);
      const std::span<const std::byte> written = std::span(to).subspan(distance, size);
      wrong += !std::ranges::equal(written, std::span(from).subspan(5, size));
      wrong += std::ranges::count(to, std::byte{0xee}) < static_cast<std::ptrdiff_t>(room - size);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("bytes are copied at every distance") { CHECK(wrong_copies(hccl::detail::copy_bytes) == 0); }

TEST_CASE("bytes are copied past the cache at every alignment") {
  CHECK(wrong_copies(hccl::detail::stream_copy) == 0);
}
