// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sockets as hccl wants them: closed on exec, and quick on loopback.

#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace hccl::inline v0::detail {

/// Opens a socket or an acceptor. Asio's own open() leaves the descriptor to programs that are started later.
template <class Socket>
void open_socket(Socket& socket, const typename Socket::protocol_type& protocol) {
  const int descriptor = ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
  if (descriptor < 0) {
    const asio_error failure(errno, boost::system::system_category());
    throw error(errc::out_of_memory, concat("cannot open a socket: ", failure.message(), " (see ulimit -n)"));
  }
  socket.assign(protocol, descriptor);
}

/// Binds and listens. Throws boost::system::system_error.
template <class Acceptor, class Endpoint>
void listen(Acceptor& acceptor, const Endpoint& endpoint) {
  open_socket(acceptor, endpoint.protocol());
  acceptor.set_option(asio::socket_base::reuse_address(true));
  acceptor.bind(endpoint);
  acceptor.listen(asio::socket_base::max_listen_connections);
  acceptor.non_blocking(true);
}

/// Accepts a connection that waits, without blocking: would_block when none does.
template <class Acceptor, class Socket>
asio_error accept_socket(Acceptor& acceptor, Socket& socket, const typename Socket::protocol_type& protocol) {
  const int descriptor = ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor < 0) return asio_error(errno, boost::system::system_category());
  socket.assign(protocol, descriptor);
  socket.non_blocking(true);
  return {};
}

/// Prepares a connection between ranks; what the system refuses is only slower.
template <class Socket>
void tune(Socket& socket, bool loopback) {
  asio_error ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::send_buffer_size(1 << 20), ignored);
  socket.set_option(asio::socket_base::receive_buffer_size(1 << 20), ignored);
  // A paced congestion control, such as bbr, makes loopback several times slower.
  constexpr char control[] = "reno";
  if (loopback)
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_CONGESTION, control, sizeof control - 1);
}

}  // namespace hccl::inline v0::detail
