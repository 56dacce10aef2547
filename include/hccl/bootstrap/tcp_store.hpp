// SPDX-License-Identifier: Apache-2.0
#pragma once

// TcpStore and TcpStoreServer: a store behind a TCP port, or behind an abstract UNIX socket of this host.
// Boost.Asio.

#include <hccl/bootstrap/detail/store_protocol.hpp>
#include <hccl/bootstrap/detail/store_session.hpp>
#include <hccl/bootstrap/detail/stream.hpp>
#include <hccl/bootstrap/store.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_address.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_socket.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace hccl::inline v0 {

/// Serves a store from a thread of its own until it is destroyed.
///
/// The socket is bound by the constructor, so the address can be told at once. Connections that do not speak
/// the store's protocol are closed and disturb nobody. The thread takes no signals.
class TcpStoreServer {
 public:
  /// Binds `url`: "tcp://host:port" (port 0: a free one) or "unix:@name". Throws bootstrap_failed when the
  /// address is taken or not one of this host.
  explicit TcpStoreServer(const std::string& url = "tcp://127.0.0.1:0") {
    const auto endpoint = detail::store_endpoint(*io_, url);
    try {
      detail::listen(acceptor_, endpoint);
    } catch (const boost::system::system_error& failure) {
      throw error(errc::bootstrap_failed,
                  detail::concat("cannot serve a store at ", url, ": ", failure.code().message()));
    }
    address_ = url.starts_with("unix:") ? url : detail::concat("tcp://", detail::to_text(local_endpoint()));
    accept();
    thread_ = start_thread();
  }

  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;

  ~TcpStoreServer() {
    io_->stop();
    thread_.join();
  }

  /// The URL at which a TcpStore on a host that can reach this one finds the server: "tcp://127.0.0.1:41234".
  const std::string& address() const { return address_; }

  /// Waits until at least `clients` have come and all have left again, at most until the deadline.
  void wait_for_departures(int clients, deadline until) const {
    const auto& seen = *dictionary_;
    while ((seen.come < clients || seen.gone < seen.come) && !until.expired()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  detail::tcp::endpoint local_endpoint() const {
    const auto generic = acceptor_.local_endpoint();
    detail::tcp::endpoint endpoint;
    endpoint.resize(generic.size());
    std::memcpy(endpoint.data(), generic.data(), generic.size());
    return endpoint;
  }

  void accept() {
    acceptor_.async_wait(detail::asio::socket_base::wait_read, [this](detail::asio_error failure) {
      if (failure) return;
      detail::stream_socket socket(*io_);
      if (!detail::accept_socket(acceptor_, socket, acceptor_.local_endpoint().protocol())) {
        std::make_shared<detail::store_session>(std::move(socket), dictionary_)->start();
      }
      accept();
    });
  }

  /// Starts the thread with all signals blocked: they are for the program's own threads.
  std::thread start_thread() {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread([this] { io_->run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  }

  std::shared_ptr<detail::store_dictionary> dictionary_ = std::make_shared<detail::store_dictionary>();
  std::unique_ptr<detail::asio::io_context> io_ = std::make_unique<detail::asio::io_context>(1);
  detail::asio::basic_socket_acceptor<detail::asio::generic::stream_protocol> acceptor_{*io_};
  std::string address_;
  std::thread thread_;
};

/// A client of a TcpStoreServer.
class TcpStore {
 public:
  /// Connects to "tcp://host:port" or "unix:@name", and tries again until the deadline while nobody listens
  /// there. Throws timeout, or bootstrap_failed when something else than an hccl store answers.
  TcpStore(const std::string& url, deadline until) : stream_(connect(url, until)) {}

  void set(const std::string& key, const std::string& value) {
    ask(detail::store_operation::set, key, value);
  }
  std::optional<std::string> get(const std::string& key) {
    return ask(detail::store_operation::get, key, {});
  }
  std::string claim(const std::string& key, const std::string& value) {
    return ask(detail::store_operation::claim, key, value).value();
  }

 private:
  static constexpr std::chrono::seconds patience{3};

  static detail::stream connect(const std::string& url, deadline until) {
    const auto in_patience = [&] { return std::min(until, deadline::after(patience)); };
    std::optional<deadline> limit;  // of hanging up, from the first time
    for (;;) {
      detail::stream stream(url, until);
      const auto greeting = greet(stream, in_patience());
      if (greeting == detail::store_greeting) return stream;
      if (!limit) limit = in_patience();
      if (greeting || limit->expired()) {
        throw error(errc::bootstrap_failed,
                    detail::concat("the port of ", url, " is taken by something that is not an hccl store"));
      }
      std::this_thread::sleep_for(
          std::chrono::milliseconds(10));  // a server may have ended just now, another may follow
    }
  }

  /// Returns what the other end says to a greeting; nothing when it hangs up.
  static std::optional<std::string> greet(detail::stream& stream, deadline limit) {
    try {
      stream.write(detail::store_greeting, limit);
      return stream.read(detail::store_greeting.size(), limit);
    } catch (const detail::store_lost&) {
      return std::nullopt;
    } catch (const error&) {
      return "";
    }
  }

  std::optional<std::string> ask(detail::store_operation operation, const std::string& key,
                                 const std::string& value) {
    const auto limit = deadline::after(patience);
    stream_.write(detail::encode_request(operation, key, value), limit);
    const auto head = stream_.read(detail::answer_head_size, limit);
    auto answer = stream_.read(detail::decode(head, 1), limit);
    return head[0] == '1' ? std::optional(std::move(answer)) : std::nullopt;
  }

  detail::stream stream_;
};

static_assert(Store<TcpStore>);

}  // namespace hccl::inline v0
