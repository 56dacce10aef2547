// SPDX-License-Identifier: Apache-2.0
#pragma once

// TorchStore: a client of the TCPStore that torchrun's agent serves at MASTER_ADDR:MASTER_PORT. Boost.Asio.

#include <hccl/bootstrap/detail/stream.hpp>
#include <hccl/bootstrap/store.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hccl::inline v0 {

namespace detail {

inline constexpr std::uint64_t longest_torch_text = 64 << 20;

/// Takes "torch://host:port/prefix" apart into "tcp://host:port" and "prefix".
inline std::pair<std::string, std::string> split_torch_url(const std::string& url) {
  const auto rest = url.substr(std::string_view("torch://").size());
  const auto slash = rest.find('/');
  return {"tcp://" + rest.substr(0, slash), slash == rest.npos ? "" : rest.substr(slash + 1)};
}

}  // namespace detail

/// Speaks the protocol of the store of PyTorch 1.x: a byte for the query, then strings, each behind its
/// 64-bit size, in the byte order of the host. PyTorch 2.1 and later speak another one and hang up: set
/// HCCL_STORE there.
class TorchStore {
 public:
  /// Connects to "torch://host:port/prefix"; the prefix stands before each key. Throws timeout while nobody
  /// answers, and bootstrap_failed when the store is not of a version that is known.
  TorchStore(const std::string& url, deadline until) : TorchStore(detail::split_torch_url(url), until) {}

  void set(const std::string& key, const std::string& value) {
    stream_.write(query(set_query) + text(path(key)) + text(value), limit());
  }

  std::optional<std::string> get(const std::string& key) {
    if (!has(path(key))) return std::nullopt;
    stream_.write(query(get_query) + text(path(key)), limit());
    return read_text();
  }

  std::string claim(const std::string& key, const std::string& value) {
    stream_.write(query(compare_set_query) + text(path(key)) + text("") + text(value), limit());
    return read_text();
  }

 private:
  static constexpr char set_query = 0, compare_set_query = 1, get_query = 2, check_query = 4;
  static constexpr char ready = 0;

  TorchStore(const std::pair<std::string, std::string>& parts, deadline until)
      : stream_(parts.first, until), prefix_(parts.second) {
    try {
      has("/hccl");
    } catch (const error&) {
      throw error(errc::bootstrap_failed,
                  detail::concat("the store of torchrun at ", parts.first,
                                 " does not speak the protocol of PyTorch 1.x: set ",
                                 "HCCL_STORE=tcp://host:port with a free port of the host of rank 0"));
    }
  }

  static deadline limit() { return deadline::after(std::chrono::seconds(3)); }
  static std::string query(char kind) { return std::string(1, kind); }

  static std::string number(std::uint64_t value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }

  static std::string text(std::string_view value) { return number(value.size()).append(value); }

  std::string path(const std::string& key) const { return detail::concat("/hccl/", prefix_, '/', key); }

  bool has(const std::string& full_key) {
    stream_.write(query(check_query) + number(1) + text(full_key), limit());
    return stream_.read(1, limit())[0] == ready;
  }

  std::string read_text() {
    std::uint64_t size = 0;
    std::memcpy(&size, stream_.read(sizeof size, limit()).data(), sizeof size);
    if (size > detail::longest_torch_text)
      throw error(errc::bootstrap_failed, "the store of torchrun sends no text");
    return stream_.read(size, limit());
  }

  detail::stream stream_;
  std::string prefix_;
};

static_assert(Store<TorchStore>);

}  // namespace hccl::inline v0
