// SPDX-License-Identifier: Apache-2.0
#pragma once

// One channel of a TcpTransport: its connections, which are made when they are first needed, and the waiting.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_hello.hpp>
#include <hccl/transport/detail/tcp_lobby.hpp>
#include <hccl/transport/detail/tcp_notice.hpp>
#include <hccl/transport/detail/tcp_pair.hpp>
#include <hccl/transport/detail/tcp_socket.hpp>
#include <hccl/transport/detail/tcp_watch.hpp>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

class tcp_channel {
 public:
  tcp_channel(std::shared_ptr<tcp_lobby> lobby, int id)
      : id_(id),
        lobby_(std::move(lobby)),
        members_(static_cast<std::size_t>(group().size)),
        chunk_(new chunk) {
    active_.reserve(members_.size());
    const int door = ::fcntl(lobby_->native_handle(), F_DUPFD_CLOEXEC, 0);
    if (door < 0)
      throw error(errc::out_of_memory,
                  "no file descriptor is left for a channel: raise the limit (ulimit -n)");
    door_.assign(group().addresses.front().protocol(), door);
    lobby_->enter(io_);
  }
  tcp_channel(const tcp_channel&) = delete;
  tcp_channel& operator=(const tcp_channel&) = delete;

  /// Closes the connections; what the system has taken still reaches the peers.
  ~tcp_channel() {
    lobby_->leave(io_);
    asio_error ignored;
    for (const auto& m : members_) {
      if (!m) continue;
      if (m->link == linkage::linked) m->pair.socket.shutdown(tcp::socket::shutdown_send, ignored);
      m->pair.socket.close(ignored);
    }
    door_.close(ignored);
    io_.restart();
    io_.poll();  // ends the waits, whose memory is in the members
  }

  const tcp_group& group() const { return lobby_->group; }
  const std::shared_ptr<tcp_lobby>& lobby() const { return lobby_; }
  pid_t owner() const { return owner_; }

  void send(int peer, pieces message) {
    lobby_->check_aborted();
    member& m = member_of(peer);
    m.pair.send(message);
    if (m.pair.sending()) activate(m);
  }

  void receive(int peer, sink& in) {
    lobby_->check_aborted();
    member& m = member_of(peer);
    m.pair.receive(in);
    if (m.pair.receiving()) activate(m);
  }

  bool sending() const {
    return std::ranges::any_of(active_, [](const member* m) { return m->pair.sending(); });
  }

  /// Tries, then lets others run for a moment, then sleeps.
  bool progress(deadline until) {
    if (pass()) return true;
    const auto patience = std::min(until, deadline::after(std::chrono::microseconds(50)));
    while (!patience.expired()) {
      ::sched_yield();
      if (pass()) return true;
    }
    while (!until.expired()) {
      sleep(until);
      if (pass()) return true;
    }
    return false;
  }

  void abort(const error& why) noexcept {
    try {
      if (lobby_->give_up(why)) send_notices(group(), why);
    } catch (...) {  // out of memory or descriptors: the peers see the connections close
    }
  }

 private:
  struct alignas(64) chunk {
    std::array<std::byte, 128 << 10> bytes;
  };

  enum class linkage { none, awaited, connecting, linked, lost };

  struct member {
    member(asio::io_context& io, int peer) : rank(peer), pair(io) {}

    const int rank;
    tcp_pair pair;
    linkage link = linkage::none;
    bool active = false;   // has something to send or to receive
    bool probing = false;  // the socket finds out whether an awaited rank is still there
    tcp_watch readable, writable;
    std::string greeting;
    std::optional<error> failure;
  };

  member& member_of(int peer) {
    auto& m = members_[static_cast<std::size_t>(peer)];
    if (!m) m = std::make_unique<member>(io_, peer);
    return *m;
  }

  void activate(member& m) {
    if (!m.active) active_.push_back(&m);
    m.active = true;
    if (m.link == linkage::none) meet(m);
  }

  /// Moves what can be moved at once.
  bool pass() {
    lobby_->check_aborted();
    if (meeting_ > 0 || incomplete_ || knocked_) look_around();
    bool moved = false;
    for (std::size_t i = 0; i < active_.size();) {
      member& m = *active_[i];
      moved |= advance(m);
      if (m.pair.sending() || m.pair.receiving()) {
        ++i;
      } else {
        m.active = false;
        active_[i] = active_.back();
        active_.pop_back();
      }
    }
    return moved;
  }

  bool advance(member& m) {
    if (m.link == linkage::lost) fail(m);
    if (m.link != linkage::linked) return false;
    bool moved = false;
    if (m.pair.sending()) moved |= judge(m, m.pair.send_some());
    if (m.pair.receiving()) moved |= judge(m, m.pair.receive_some(chunk_->bytes));
    return moved;
  }

  bool judge(member& m, tcp_outcome outcome) {
    if (outcome == tcp_outcome::lost) {
      lose(m, error(errc::peer_lost,
                    concat("rank ", m.rank, " has closed its connection to rank ", group().rank), m.rank));
      fail(m);
    }
    return outcome == tcp_outcome::moved;
  }

  /// Throws what is known of a lost rank; a notice that is on its way knows more than the end of a
  /// connection.
  [[noreturn]] void fail(const member& m) {
    for (const auto patience = deadline::after(std::chrono::milliseconds(20)); !patience.expired();) {
      look_around();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw error(*m.failure);
  }

  void lose(member& m, const error& failure) {
    if (m.link == linkage::awaited || m.link == linkage::connecting) --meeting_;
    m.link = linkage::lost;
    m.failure = failure;
  }

  void lose(member& m, const asio_error& failure) {
    lose(m, error(errc::peer_lost,
                  concat("rank ", group().rank, " cannot reach rank ", m.rank, ": ", failure.message()),
                  m.rank));
  }

  // --- Meeting: the lower rank of a pair connects, the higher waits in its lobby.

  void meet(member& m) {
    ++meeting_;
    if (m.rank < group().rank) {
      m.link = linkage::awaited;
      next_probe_ = deadline::after(probe_period);
    } else {
      m.link = linkage::connecting;
      connect(m);
    }
  }

  void connect(member& m) {
    const auto& address = group().addresses[static_cast<std::size_t>(m.rank)];
    auto& socket = m.pair.socket;
    open_socket(socket, address.protocol());
    m.greeting = encode(
        hello{tcp_version, hello_purpose::join, group().job, id_, group().rank, m.rank, group().size, 0});
    socket.async_connect(address, [this, &m, &socket](asio_error failure) {
      if (failure) return lose(m, failure);
      asio::async_write(
          socket, asio::buffer(m.greeting), [this, &m, &socket](asio_error not_written, std::size_t) {
            if (not_written) return lose(m, not_written);
            m.greeting.resize(welcome_size);
            asio::async_read(socket, asio::buffer(m.greeting), [this, &m](asio_error not_read, std::size_t) {
              not_read ? lose(m, not_read) : settle(m);
            });
          });
    });
  }

  /// Reads the answer to a hello.
  void settle(member& m) {
    const auto answer = decode_welcome(m.greeting);
    if (!m.greeting.starts_with(tcp_magic) || answer.version != tcp_version) {
      return lose(m, error(errc::version_mismatch,
                           concat("rank ", m.rank, " speaks version ", answer.version,
                                  " of the TCP protocol, rank ", group().rank, " version ", tcp_version),
                           m.rank));
    }
    if (answer.size != group().size) {
      return lose(m, error(errc::mismatch,
                           concat("rank ", m.rank, " is in a world of ", answer.size, ", rank ", group().rank,
                                  " in a world of ", group().size),
                           m.rank));
    }
    link(m);
  }

  void link(member& m) {
    if (m.link == linkage::awaited || m.link == linkage::connecting) --meeting_;
    m.link = linkage::linked;
    m.pair.socket.non_blocking(true);
    tune(m.pair.socket, group().addresses[static_cast<std::size_t>(m.rank)].address().is_loopback());
  }

  /// A rank has come in.
  void welcome_in(int rank, int descriptor) {
    member& m = member_of(rank);
    if (rank > group().rank || m.link == linkage::linked) {
      ::close(descriptor);
      return;
    }
    asio_error ignored;
    m.probing = false;
    m.pair.socket.close(ignored);
    m.pair.socket.assign(group().addresses.front().protocol(), descriptor);
    link(m);
  }

  void look_around() {
    io_.poll();
    knocked_ = false;
    const auto notice = lobby_->visit(id_, incomplete_, [this](int rank, int fd) { welcome_in(rank, fd); });
    if (notice) {
      lobby_->give_up(*notice);
      throw error(*notice);
    }
    if (meeting_ > 0 && next_probe_.expired()) probe();
  }

  /// Asks whether the awaited ranks still listen: a rank that died before it connected would be missed
  /// otherwise.
  void probe() {
    next_probe_ = deadline::after(probe_period);
    for (member* active : active_) {
      member& m = *active;
      if (m.link != linkage::awaited || m.probing) continue;
      const auto& address = group().addresses[static_cast<std::size_t>(m.rank)];
      open_socket(m.pair.socket, address.protocol());
      m.probing = true;
      m.pair.socket.async_connect(address, [this, &m](asio_error failure) {
        if (!std::exchange(m.probing, false)) return;
        asio_error ignored;
        m.pair.socket.close(ignored);
        if (failure == asio::error::connection_refused) lose(m, failure);
      });
    }
  }

  // --- Waiting.

  void sleep(deadline until) {
    door_watch_.arm(door_, asio::socket_base::wait_read, &knocked_);
    for (member* m : active_) {
      if (m->link != linkage::linked) continue;
      if (m->pair.receiving()) m->readable.arm(m->pair.socket, asio::socket_base::wait_read);
      if (m->pair.sending()) m->writable.arm(m->pair.socket, asio::socket_base::wait_write);
    }
    // What another channel let in for this one makes no descriptor readable.
    const bool watchful = meeting_ > 0 || incomplete_;
    if (watchful) until = std::min(until, deadline::after(std::chrono::milliseconds(2)));
    io_.run_one_until(until.time());
    io_.poll();
  }

  static constexpr std::chrono::milliseconds probe_period{250};

  const int id_;
  const pid_t owner_ = ::getpid();
  const std::shared_ptr<tcp_lobby> lobby_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  tcp::acceptor door_{io_};  // the lobby's listening socket, to sleep on
  tcp_watch door_watch_;
  std::vector<std::unique_ptr<member>> members_;  // by rank, made when first needed
  std::vector<member*> active_;
  std::unique_ptr<chunk> chunk_;
  int meeting_ = 0;          // members that are awaited or connecting
  bool knocked_ = false;     // somebody has come to the door
  bool incomplete_ = false;  // somebody is still to finish a hello
  deadline next_probe_ = deadline::never();
};

}  // namespace hccl::inline v0::detail
