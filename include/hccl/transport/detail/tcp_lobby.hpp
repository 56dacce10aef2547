// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where connections of other ranks arrive: one listening socket for all channels of a transport.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_hello.hpp>
#include <hccl/transport/detail/tcp_socket.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// What all channels know of their group.
struct tcp_group {
  int rank = 0;
  int size = 1;
  std::string job;
  std::vector<tcp::endpoint> addresses;  // by rank
};

/// Accepts connections, reads their hellos, and keeps what has arrived until its channel asks. Strangers are
/// closed quietly. Safe to use from several threads.
class tcp_lobby {
 public:
  tcp_lobby(tcp_group members, int descriptor) : group(std::move(members)) {
    acceptor_.assign(group.addresses.front().protocol(), descriptor);
    acceptor_.non_blocking(true);
  }

  const tcp_group group;

  /// The listening socket; it becomes readable when somebody arrives.
  int native_handle() { return acceptor_.native_handle(); }

  /// Makes a channel's io_context known while the channel lives, so that it can be woken.
  void enter(asio::io_context& io) {
    const std::lock_guard lock(abort_mutex_);
    sleepers_.push_back(&io);
  }
  void leave(asio::io_context& io) {
    const std::lock_guard lock(abort_mutex_);
    std::erase(sleepers_, &io);
  }

  /// Makes all channels fail from now on, and wakes who sleeps in them; false when that has happened before.
  bool give_up(const error& why) {
    const std::lock_guard lock(abort_mutex_);
    if (aborted_.exchange(true)) return false;
    for (auto* io : sleepers_) io->stop();
    reason_.emplace(errc::aborted, reason(why),
                    why.failed_rank() == no_rank ? group.rank : why.failed_rank());
    return true;
  }

  /// Throws when the transport was given up.
  void check_aborted() {
    if (!aborted_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(abort_mutex_);
    throw reason_ ? error(*reason_) : error(errc::aborted, "the transport was aborted");
  }

  /// Lets in who waits outside. Calls `join(rank, socket descriptor)` for each rank that has arrived for the
  /// channel, and returns the notice of a rank that has given up, if there is one. Returns in
  /// `incomplete` whether somebody is still to finish a hello. Throws when a rank of the job speaks another
  /// version or knows another size.
  template <class Join>
  std::optional<error> visit(int channel, bool& incomplete, Join join) {
    const std::lock_guard lock(mutex_);
    accept();
    std::erase_if(guests_, [this](guest& g) { return !hear(g); });
    incomplete = !guests_.empty();
    for (auto at = arrivals_.begin(); at != arrivals_.end();) {
      if (at->channel == channel) {
        join(at->from, at->socket.release());
        at = arrivals_.erase(at);
      } else {
        ++at;
      }
    }
    if (disagreement_) return disagreement_;
    return notice_;
  }

 private:
  static constexpr std::size_t most_guests = 256;
  static constexpr std::chrono::seconds patience{10};

  struct guest {
    tcp::socket socket;
    deadline leaves;
    std::string heard;
  };

  struct arrival {
    int channel, from;
    tcp::socket socket;
  };

  void accept() {
    for (;;) {
      tcp::socket socket(io_);
      const auto failure = accept_socket(acceptor_, socket, group.addresses.front().protocol());
      if (failure.value() == EMFILE || failure.value() == ENFILE) {
        throw error(errc::out_of_memory,
                    "no file descriptor is left for a connection: raise the limit (ulimit -n)");
      }
      if (failure == asio::error::connection_aborted || failure == asio::error::interrupted) continue;
      if (failure) return;
      if (guests_.size() == most_guests) guests_.erase(guests_.begin());
      guests_.push_back({std::move(socket), deadline::after(patience), {}});
    }
  }

  /// Reads on in a hello; false when the guest has been dealt with.
  bool hear(guest& g) {
    std::size_t wanted = hello_size;
    for (;;) {
      if (!read_up_to(g, wanted)) return false;
      const auto magic = std::string_view(g.heard).substr(0, tcp_magic.size());
      if (!tcp_magic.starts_with(magic)) return false;
      if (g.heard.size() < wanted) return !g.leaves.expired();
      const auto h = decode_hello(g.heard);
      if (!valid(h)) return false;
      const auto total = hello_size + body_size(h);
      if (g.heard.size() == total) {
        let_in(g, h);
        return false;
      }
      wanted = total;
    }
  }

  /// Reads what has come, never more than `size` bytes in all; false when the guest has left.
  static bool read_up_to(guest& g, std::size_t size) {
    const auto before = g.heard.size();
    g.heard.resize(size);
    asio_error failure;
    const auto count = g.socket.read_some(asio::buffer(g.heard.data() + before, size - before), failure);
    g.heard.resize(before + count);
    return !failure || failure == asio::error::would_block || failure == asio::error::interrupted;
  }

  static std::size_t body_size(const hello& h) {
    const bool has_body = h.version == tcp_version && h.purpose == hello_purpose::notice;
    return has_body ? static_cast<std::size_t>(h.body) : 0;
  }

  bool valid(const hello& h) const {
    if (h.job != padded_job(group.job) || h.from < 0 || h.from == group.rank) return false;
    if (h.version != tcp_version || h.purpose == hello_purpose::join) return true;
    return h.purpose == hello_purpose::notice && h.body >= 8 && h.body <= static_cast<int>(longest_notice);
  }

  void let_in(guest& g, const hello& h) {
    if (h.version == tcp_version && h.purpose == hello_purpose::notice) {
      if (!notice_) notice_ = decode_notice(std::string_view(g.heard).substr(hello_size));
      return;
    }
    asio_error failure;
    asio::write(g.socket, asio::buffer(encode(welcome{tcp_version, group.size})), failure);
    if (h.version != tcp_version) {
      disagreement_ = error(errc::version_mismatch,
                            concat("rank ", h.from, " speaks version ", h.version,
                                   " of the TCP protocol, rank ", group.rank, " version ", tcp_version),
                            h.from);
    } else if (h.size != group.size || h.to != group.rank || h.from >= group.size) {
      disagreement_ = error(errc::mismatch,
                            concat("rank ", h.from, " of a world of ", h.size, " connects to rank ", h.to,
                                   " and finds rank ", group.rank, " of a world of ", group.size),
                            h.from);
    } else if (!failure) {
      arrivals_.push_back({h.channel, h.from, std::move(g.socket)});
    }
  }

  std::mutex mutex_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  std::vector<guest> guests_;
  std::vector<arrival> arrivals_;
  std::optional<error> notice_;
  std::optional<error> disagreement_;

  std::atomic<bool> aborted_ = false;
  std::mutex abort_mutex_;
  std::optional<error> reason_;
  std::vector<asio::io_context*> sleepers_;
};

}  // namespace hccl::inline v0::detail
