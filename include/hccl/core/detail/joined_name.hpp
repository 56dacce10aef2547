// SPDX-License-Identifier: Apache-2.0
#pragma once

// A name made of names, at compile time.

#include <array>
#include <cstddef>
#include <string_view>

namespace hccl::inline v0::detail {

/// The parts, one behind the other, separated by blanks.
template <const std::string_view&... Parts>
inline constexpr auto joined_characters = [] {
  std::array<char, (Parts.size() + ...) + sizeof...(Parts) - 1> all{};
  std::size_t end = 0;
  const auto append = [&](std::string_view part) {
    if (end > 0) all[end++] = ' ';
    for (const char c : part) all[end++] = c;
  };
  (append(Parts), ...);
  return all;
}();

template <const std::string_view&... Parts>
inline constexpr std::string_view joined_name{joined_characters<Parts...>.data(),
                                              joined_characters<Parts...>.size()};

}  // namespace hccl::inline v0::detail
