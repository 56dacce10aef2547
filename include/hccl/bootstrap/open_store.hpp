// SPDX-License-Identifier: Apache-2.0
#pragma once

// AnyStore and open_store(): the store that a URL names.

#include <hccl/bootstrap/file_store.hpp>
#include <hccl/bootstrap/store.hpp>
#include <hccl/bootstrap/tcp_store.hpp>
#include <hccl/bootstrap/torch_store.hpp>
#include <hccl/core/deadline.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hccl::inline v0 {

/// One of the stores of hccl.
class AnyStore {
 public:
  using variant = std::variant<TcpStore, FileStore, TorchStore>;

  explicit AnyStore(variant store) : store_(std::move(store)) {}

  void set(const std::string& key, const std::string& value) {
    std::visit([&](auto& store) { store.set(key, value); }, store_);
  }
  std::optional<std::string> get(const std::string& key) {
    return std::visit([&](auto& store) { return store.get(key); }, store_);
  }
  std::string claim(const std::string& key, const std::string& value) {
    return std::visit([&](auto& store) { return store.claim(key, value); }, store_);
  }

  /// The store as files, which somebody has to remove; else null.
  FileStore* files() { return std::get_if<FileStore>(&store_); }

 private:
  variant store_;
};

static_assert(Store<AnyStore>);

/// Opens "tcp://host:port", "unix:@name", "file:///directory" or "torch://host:port/prefix"; a store behind a
/// socket is waited for until the deadline. Throws invalid_argument for any other URL, else like the store's
/// constructor.
inline AnyStore open_store(const std::string& url, deadline until) {
  constexpr std::string_view file_scheme = "file://";
  if (url.starts_with(file_scheme)) return AnyStore(FileStore(url.substr(file_scheme.size())));
  if (url.starts_with("torch://")) return AnyStore(TorchStore(url, until));
  if (url.starts_with("tcp://") || url.starts_with("unix:@")) return AnyStore(TcpStore(url, until));
  throw error(
      errc::invalid_argument,
      detail::concat("'", url, "' names no store: use tcp://host:port, file:///directory or unix:@name"));
}

}  // namespace hccl::inline v0
