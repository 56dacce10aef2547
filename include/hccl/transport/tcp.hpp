// SPDX-License-Identifier: Apache-2.0
#pragma once

// TcpTransport: ranks as processes, on one host or on many, over TCP. Needs Boost.Asio (target hccl::tcp).

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/check_addresses.hpp>
#include <hccl/transport/detail/tcp_address.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_channel.hpp>
#include <hccl/transport/detail/tcp_interface.hpp>
#include <hccl/transport/detail/tcp_lobby.hpp>
#include <hccl/transport/detail/tcp_ports.hpp>
#include <hccl/transport/detail/tcp_socket.hpp>

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// Moves bytes between processes through TCP sockets, IPv4 or IPv6.
///
/// A pair of ranks is connected when one of them first needs the other. Every connection begins with a hello
/// that tells protocol version, job, channel and ranks; a connection that does not belong to the job is
/// closed and disturbs nobody. Large messages are reduced, or copied, out of a chunk that stays in the cache,
/// or read straight to where they belong. A waiting rank yields for some tens of microseconds and then
/// sleeps.
///
/// `progress` throws `peer_lost` when a rank that is waited for has closed its connection or listens no more.
/// `abort` on any channel ends all channels, and tells the other ranks why: the first `progress` there throws
/// an error of that kind, everything later `aborted`. Channels may be used from different threads. In a
/// process forked from the owner the destructor does nothing.
class TcpTransport {
 public:
  static constexpr std::string_view name = "tcp";
  static constexpr link_model link{1e-5, 3e-6, 4e-10, 1e-10};

  /// A bound and listening socket: made first, so that its address can be told to the other ranks.
  class listener {
   public:
    /// Listens at a free port of the address from which the host `towards` is reached; empty: of one that other hosts
    /// can reach, if there is one. The environment may choose: `HCCL_IF_IP`, `HCCL_SOCKET_IFNAME` ("eth", "=eth0",
    /// "^docker,lo"), `HCCL_SOCKET_FAMILY` ("AF_INET", "AF_INET6"), and the port: `HCCL_HOST_SOCKET_PORT_RANGE`
    /// ("60000,60050-60100"). Throws invalid_argument, listing the interfaces of the host.
    explicit listener(const std::string& towards = "127.0.0.1",
                      const detail::interface_wishes& wishes = detail::interface_wishes::from_environment()) {
      const auto address = detail::interface_choice(wishes).choose(towards);
      const auto ports = detail::ports_from_environment();
      try {
        detail::at_first_free<boost::system::system_error>(ports, [&](std::uint16_t port) {
          if (acceptor_.is_open()) acceptor_.close();
          detail::listen(acceptor_, detail::tcp::endpoint(address, port));
        });
      } catch (const boost::system::system_error& failure) {
        throw error(errc::bootstrap_failed,
                    detail::concat("cannot listen at ", address.to_string(),
                                   ports.size() > 1 ? " at any port of HCCL_HOST_SOCKET_PORT_RANGE: " : ": ",
                                   failure.code().message()));
      }
    }

    /// The address that the other ranks connect to: "127.0.0.1:41234" or "[::1]:41234".
    std::string address() const { return detail::to_text(acceptor_.local_endpoint()); }

   private:
    friend TcpTransport;

    std::unique_ptr<detail::asio::io_context> io_ = std::make_unique<detail::asio::io_context>(1);
    detail::tcp::acceptor acceptor_{*io_};
  };

  /// Makes the transport of rank `rank` of `size`. `addresses` are those of all listeners, by rank, and `job`
  /// is a text of at most 32 characters that no other job has; both are the same on all ranks. Nothing is
  /// sent yet.
  TcpTransport(listener own, int rank, int size, const std::vector<std::string>& addresses,
               const std::string& job)
      : TcpTransport(std::make_shared<detail::tcp_lobby>(make_group(rank, size, addresses, job),
                                                         own.acceptor_.release()),
                     0) {}

  int rank() const { return channel_->group().rank; }
  int size() const { return channel_->group().size; }

  void send(int peer, pieces message) { channel_->send(peer, message); }
  bool sending() const { return channel_->sending(); }
  void receive(int peer, sink& in) { channel_->receive(peer, in); }
  bool progress(deadline until) { return channel_->progress(until); }
  void abort(const error& why) noexcept { channel_->abort(why); }
  TcpTransport channel(int id) { return TcpTransport(channel_->lobby(), id); }

 private:
  /// A forked child must not touch what it shares with the owner.
  struct delete_in_owner {
    void operator()(detail::tcp_channel* channel) const {
      if (channel->owner() == ::getpid()) delete channel;
    }
  };

  TcpTransport(std::shared_ptr<detail::tcp_lobby> lobby, int id)
      : channel_(new detail::tcp_channel(std::move(lobby), id)) {}

  static detail::tcp_group make_group(int rank, int size, const std::vector<std::string>& addresses,
                                      const std::string& job) {
    detail::check_addresses(rank, size, addresses);
    detail::asio::io_context io;
    detail::tcp_group group{rank, size, job, {}};
    for (const auto& address : addresses)
      group.addresses.push_back(look_up(io, detail::split_address(address)));
    return group;
  }

  std::unique_ptr<detail::tcp_channel, delete_in_owner> channel_;
};

static_assert(check_transport<TcpTransport>());

}  // namespace hccl::inline v0
