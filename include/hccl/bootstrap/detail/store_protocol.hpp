// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a TcpStore and its server say to each other.
//
// Both ends greet with the same line. A request is {operation, u32 key size, u32 value size, key, value}; an
// answer is {found, u32 size, value}. Integers are big-endian.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hccl::inline v0::detail {

inline constexpr std::string_view store_greeting = "hccl store 1\n";

enum class store_operation : char { set = 's', get = 'g', claim = 'c' };

inline constexpr std::size_t request_head_size = 9;
inline constexpr std::size_t answer_head_size = 5;
inline constexpr std::size_t longest_store_text = 64 << 20;

inline std::string encode(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

inline std::uint32_t decode(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(offset, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

inline std::string encode_request(store_operation operation, std::string_view key, std::string_view value) {
  std::string bytes(1, static_cast<char>(operation));
  bytes += encode(static_cast<std::uint32_t>(key.size()));
  bytes += encode(static_cast<std::uint32_t>(value.size()));
  return bytes.append(key).append(value);
}

inline std::string encode_answer(bool found, std::string_view value) {
  return std::string(1, found ? '1' : '0')
      .append(encode(static_cast<std::uint32_t>(value.size())))
      .append(value);
}

}  // namespace hccl::inline v0::detail
