// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first bytes on a connection between ranks, as pure functions over bytes.
//
// Who connects says hello: {magic, version, purpose, job, channel, from, to, size, body size}, 64 bytes,
// integers big-endian. A rank that joins gets an answer {magic, version, size} and then owns a stream of bare
// message bytes; a rank that has given up sends a notice {kind, failed rank, text} as the body and gets no
// answer.

#include <hccl/core/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace hccl::inline v0::detail {

inline constexpr std::string_view tcp_magic = "hccl-tcp";
inline constexpr int tcp_version = 1;
inline constexpr std::size_t job_id_size = 32;
inline constexpr std::size_t hello_size = 64;
inline constexpr std::size_t welcome_size = 16;
inline constexpr std::size_t longest_notice = 1024;

enum class hello_purpose { join = 1, notice = 2 };

struct hello {
  int version = tcp_version;
  hello_purpose purpose = hello_purpose::join;
  std::string job;
  int channel = 0;
  int from = 0;
  int to = 0;
  int size = 0;
  int body = 0;  // bytes that follow
};

struct welcome {
  int version = tcp_version;
  int size = 0;
};

inline void put_int(std::string& bytes, int value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<unsigned>(value) >> shift & 0xff);
}

/// Reads the integer at the front and drops it.
inline int take_int(std::string_view& bytes) {
  unsigned value = 0;
  for (const char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  bytes.remove_prefix(4);
  return static_cast<int>(value);
}

/// A job id as it travels: always of the same length.
inline std::string padded_job(std::string job) {
  job.resize(job_id_size, '\0');
  return job;
}

inline std::string encode(const hello& h) {
  std::string bytes(tcp_magic);
  put_int(bytes, h.version);
  bytes += padded_job(h.job);
  for (const int field : {static_cast<int>(h.purpose) << 24 | h.channel, h.from, h.to, h.size, h.body})
    put_int(bytes, field);
  return bytes;
}

/// `bytes` holds hello_size bytes that begin with the magic.
inline hello decode_hello(std::string_view bytes) {
  hello h;
  bytes.remove_prefix(tcp_magic.size());
  h.version = take_int(bytes);
  h.job = bytes.substr(0, job_id_size);
  bytes.remove_prefix(job_id_size);
  const int purpose_and_channel = take_int(bytes);
  h.purpose = static_cast<hello_purpose>(purpose_and_channel >> 24);
  h.channel = purpose_and_channel & 0xffffff;
  h.from = take_int(bytes);
  h.to = take_int(bytes);
  h.size = take_int(bytes);
  h.body = take_int(bytes);
  return h;
}

inline std::string encode(const welcome& w) {
  std::string bytes(tcp_magic);
  put_int(bytes, w.version);
  put_int(bytes, w.size);
  return bytes;
}

inline welcome decode_welcome(std::string_view bytes) {
  welcome w;
  bytes.remove_prefix(tcp_magic.size());
  w.version = take_int(bytes);
  w.size = take_int(bytes);
  return w;
}

inline std::string encode_notice(const error& why) {
  std::string bytes;
  put_int(bytes, static_cast<int>(why.kind()));
  put_int(bytes, why.failed_rank());
  return (bytes + reason(why)).substr(0, longest_notice);
}

inline error decode_notice(std::string_view bytes) {
  const int kind = take_int(bytes);
  const int failed_rank = take_int(bytes);
  const bool known = kind >= static_cast<int>(errc::timeout) && kind <= static_cast<int>(errc::device_failed);
  return error(known ? static_cast<errc>(kind) : errc::aborted, std::string(bytes), failed_rank);
}

}  // namespace hccl::inline v0::detail
