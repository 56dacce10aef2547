// SPDX-License-Identifier: Apache-2.0
#pragma once

// SocketTransport: the ranks are threads of one process, and every pair of them has a pair of UNIX sockets.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

/// A file descriptor that is closed when its owner goes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// What the ranks share: socket ends that nobody has fetched yet, and the reason of an abort.
class SocketWorld {
 public:
  explicit SocketWorld(int size) : size_(size) { std::tie(alarm_, bell_) = make_pair(); }

  int size() const { return size_; }

  /// The end of rank `self` of the connection to `peer` in a channel.
  Descriptor fetch(int channel, int self, int peer) {
    const std::lock_guard lock(mutex_);
    if (auto made = ends_.extract({channel, self, peer})) return std::move(made.mapped());
    auto [mine, theirs] = make_pair();
    ends_.emplace(std::tuple(channel, peer, self), std::move(theirs));
    return std::move(mine);
  }

  /// Readable, and never read, once the world is aborted: whoever polls it wakes up.
  int alarm() const { return alarm_.number(); }

  void abort(const hccl::error& why) {
    const std::lock_guard lock(mutex_);
    if (!reason_) reason_.emplace(why);
    ::shutdown(bell_.number(), SHUT_WR);
  }

  void check() {
    const std::lock_guard lock(mutex_);
    if (reason_) throw hccl::error(*reason_);
  }

 private:
  static std::pair<Descriptor, Descriptor> make_pair() {
    std::array<int, 2> ends;
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw hccl::error(hccl::errc::out_of_memory, "no more sockets");
    }
    return {Descriptor(ends[0]), Descriptor(ends[1])};
  }

  int size_;
  Descriptor alarm_, bell_;
  std::mutex mutex_;
  std::map<std::tuple<int, int, int>, Descriptor> ends_;
  std::optional<hccl::error> reason_;
};

class SocketTransport {
 public:
  static constexpr std::string_view name = "socket";
  static constexpr hccl::link_model link{
      .latency = 1e-5, .overhead = 2e-6, .seconds_per_byte = 2e-10, .reduction = 1e-10};

  SocketTransport(std::shared_ptr<SocketWorld> world, int rank, int channel = 0)
      : world_(std::move(world)), rank_(rank) {
    for (int peer = 0; peer < size(); ++peer) {
      lanes_.push_back({peer, peer == rank ? Descriptor() : world_->fetch(channel, rank, peer), {}, {}});
    }
    watched_.reserve(lanes_.size());  // all sockets but its own, and the alarm
  }

  int rank() const { return rank_; }
  int size() const { return world_->size(); }
  SocketTransport channel(int id) const { return SocketTransport(world_, rank_, id); }
  void abort(const hccl::error& why) noexcept { world_->abort(why); }

  void send(int peer, hccl::pieces message) {
    for (const auto piece : message) {
      if (!piece.empty()) lane_to(peer).leaving.push_back(piece);
    }
  }

  bool sending() const {
    return std::ranges::any_of(lanes_, [](const lane& l) { return !l.leaving.empty(); });
  }

  void receive(int peer, hccl::sink& in) {
    if (in.remaining() > 0) lane_to(peer).coming.push_back(&in);
  }

  bool progress(hccl::deadline until) {
    do {
      world_->check();
      bool moved = false;
      for (lane& l : lanes_) {
        if (!l.leaving.empty()) moved |= send_some(l);
        if (!l.coming.empty()) moved |= receive_some(l);
      }
      if (moved) return true;
    } while (wait(until));
    return false;
  }

 private:
  struct lane {
    int peer;
    Descriptor socket;
    std::vector<std::span<const std::byte>> leaving;
    std::vector<hccl::sink*> coming;
  };

  lane& lane_to(int peer) { return lanes_[static_cast<std::size_t>(peer)]; }

  bool send_some(lane& l) {
    auto& piece = l.leaving.front();
    const auto sent = ::send(l.socket.number(), piece.data(), piece.size(), MSG_NOSIGNAL);
    if (sent < 0) return nothing_or_lost(l);
    piece = piece.subspan(static_cast<std::size_t>(sent));
    if (piece.empty()) l.leaving.erase(l.leaving.begin());
    return true;
  }

  bool receive_some(lane& l) {
    hccl::sink& in = *l.coming.front();
    const auto window = in.window();
    const auto target =
        window.empty() ? std::span(chunk_).first(std::min(chunk_.size(), in.remaining())) : window;
    const auto count = ::recv(l.socket.number(), target.data(), target.size(), 0);
    if (count <= 0) return count < 0 ? nothing_or_lost(l) : lose(l);
    const auto size = static_cast<std::size_t>(count);
    window.empty() ? in.consume(target.first(size)) : in.commit(size);
    if (in.remaining() == 0) l.coming.erase(l.coming.begin());
    return true;
  }

  bool nothing_or_lost(const lane& l) const { return errno == EAGAIN || errno == EINTR ? false : lose(l); }

  [[noreturn]] bool lose(const lane& l) const {
    const auto text = "rank " + std::to_string(rank_) + ": rank " + std::to_string(l.peer) + " has left";
    throw hccl::error(hccl::errc::peer_lost, text, l.peer);
  }

  /// Sleeps until something can be moved; false when the deadline has passed.
  bool wait(hccl::deadline until) {
    if (until.expired()) return false;
    watched_ = {{world_->alarm(), POLLIN, 0}};
    for (const lane& l : lanes_) {
      const int events = (l.leaving.empty() ? 0 : POLLOUT) | (l.coming.empty() ? 0 : POLLIN);
      if (events != 0) watched_.push_back({l.socket.number(), static_cast<short>(events), 0});
    }
    const auto limit = std::min<std::chrono::nanoseconds>(until.remaining(), std::chrono::hours(1));
    ::poll(watched_.data(), watched_.size(),
           static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count()));
    return true;
  }

  std::shared_ptr<SocketWorld> world_;
  int rank_;
  std::vector<lane> lanes_;
  std::vector<pollfd> watched_;
  std::vector<std::byte> chunk_ = std::vector<std::byte>(64 << 10);
};

static_assert(hccl::check_transport<SocketTransport>());
