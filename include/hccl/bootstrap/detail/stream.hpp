// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection to a store: blocking calls of which each has a deadline. Boost.Asio.

#include <hccl/bootstrap/store.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_address.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_socket.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace hccl::inline v0::detail {

using stream_endpoint = asio::generic::stream_protocol::endpoint;
using stream_socket = asio::generic::stream_protocol::socket;

/// Reads where a store is: "tcp://host:port", or "unix:@name", a socket in Linux's abstract namespace.
inline stream_endpoint store_endpoint(asio::io_context& io, std::string_view url) {
  constexpr std::string_view tcp_scheme = "tcp://", unix_scheme = "unix:@";
  if (url.starts_with(tcp_scheme)) return look_up(io, split_address(url.substr(tcp_scheme.size())));
  if (url.starts_with(unix_scheme)) {
    const auto name = url.substr(unix_scheme.size());
    if (name.size() < 100) return asio::local::stream_protocol::endpoint(std::string(1, '\0').append(name));
  }
  throw error(errc::invalid_argument, concat("'", url, "' is not tcp://host:port or unix:@name"));
}

/// A connected stream of bytes.
class stream {
 public:
  /// Connects to `url`, and tries again until the deadline while nobody listens there.
  stream(const std::string& url, deadline until) : url_(url), endpoint_(store_endpoint(*io_, url)) {
    for (std::chrono::nanoseconds pause = std::chrono::milliseconds(2);;
         pause = std::min(2 * pause, longest_pause)) {
      open_socket(socket_, endpoint_.protocol());
      const auto failure = wait(until, [&](auto done) { socket_.async_connect(endpoint_, std::move(done)); });
      if (!failure) return;
      socket_ = stream_socket(*io_);
      if (until.remaining() <= pause) {
        throw error(errc::timeout, concat("no store answers at ", url_, ": ", failure.message()));
      }
      std::this_thread::sleep_for(pause);
    }
  }

  const std::string& url() const { return url_; }

  /// Writes all of `bytes`. Throws store_lost when the other end has closed, timeout at the deadline.
  void write(std::string_view bytes, deadline until) {
    check(wait(until, [&](auto done) { asio::async_write(socket_, asio::buffer(bytes), std::move(done)); }));
  }

  /// Reads exactly `size` bytes. Throws like write().
  std::string read(std::size_t size, deadline until) {
    std::string bytes(size, '\0');
    check(wait(until, [&](auto done) { asio::async_read(socket_, asio::buffer(bytes), std::move(done)); }));
    return bytes;
  }

 private:
  static constexpr std::chrono::nanoseconds longest_pause = std::chrono::milliseconds(50);

  /// Runs one asynchronous operation to its end or to the deadline.
  template <class Start>
  asio_error wait(deadline until, Start start) {
    asio_error result = asio::error::timed_out;
    bool done = false;
    start([&](asio_error failure, auto&&...) {
      result = failure;
      done = true;
    });
    io_->restart();
    io_->run_until(until.time());
    if (done) return result;
    asio_error ignored;
    socket_.close(ignored);
    io_->restart();
    io_->run();
    return asio::error::timed_out;
  }

  void check(asio_error failure) const {
    if (!failure) return;
    if (failure == asio::error::timed_out)
      throw error(errc::timeout, concat("the store at ", url_, " does not answer"));
    throw store_lost(concat("the store at ", url_, " has closed the connection: ", failure.message()));
  }

  std::string url_;
  std::unique_ptr<asio::io_context> io_ = std::make_unique<asio::io_context>(1);
  stream_endpoint endpoint_;
  stream_socket socket_{*io_};
};

}  // namespace hccl::inline v0::detail
