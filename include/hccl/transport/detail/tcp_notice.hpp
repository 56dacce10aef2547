// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells the other ranks that this one has given up, so that they need not wait for their deadlines.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_hello.hpp>
#include <hccl/transport/detail/tcp_lobby.hpp>
#include <hccl/transport/detail/tcp_socket.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

namespace hccl::inline v0::detail {

/// Sends the reason to the lobbies of all ranks but one that is lost. Takes half a second at most; who cannot be
/// reached in that time learns it from the closed connection.
inline void send_notices(const tcp_group& group, const error& why) {
  constexpr std::size_t at_once = 64;
  const auto body =
      encode_notice(error(why.kind(), concat("rank ", group.rank, " has given up: ", reason(why)),
                          why.failed_rank() == no_rank ? group.rank : why.failed_rank()));
  const auto until = deadline::after(std::chrono::milliseconds(500));
  asio::io_context io(1);
  std::deque<tcp::socket> sockets;
  std::deque<std::string> texts;
  const int lost = why.kind() == errc::peer_lost ? why.failed_rank() : no_rank;
  for (int rank = 0; rank < group.size; ++rank) {
    if (rank == group.rank || rank == lost) continue;
    const auto& address = group.addresses[static_cast<std::size_t>(rank)];
    auto& socket = sockets.emplace_back(io);
    const auto& text =
        texts.emplace_back(encode(hello{tcp_version, hello_purpose::notice, group.job, 0, group.rank, rank,
                                        group.size, static_cast<int>(body.size())}) +
                           body);
    open_socket(socket, address.protocol());
    socket.async_connect(address, [&](asio_error failure) {
      if (!failure) asio::async_write(socket, asio::buffer(text), [](asio_error, std::size_t) {});
    });
    if (sockets.size() < at_once && rank + 1 < group.size) continue;
    io.restart();
    io.run_until(until.time());
    sockets.clear();
  }
  io.restart();
  io.run_until(until.time());
}

}  // namespace hccl::inline v0::detail
