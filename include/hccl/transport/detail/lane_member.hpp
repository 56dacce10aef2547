// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the transports of ranks that share memory have in common: lanes for messages, and boards for notes.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/board.hpp>
#include <hccl/transport/detail/lane_traffic.hpp>
#include <hccl/transport/detail/raised_flag.hpp>
#include <hccl/transport/detail/wait.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

namespace hccl::inline v0::detail {

/// One rank of a channel.
///
/// Channel: what this rank sees of it. Besides `between` and `bell`, see `lane_traffic`, it has `rank()`, `size()`,
/// `name(rank)`, by which a rank is called in errors, `check()`, which throws once the world was aborted,
/// `has_gone(peer)`, `board_of(rank)`, `is_visiting(rank)`, the flag of a rank that works in the memory of others, and
/// `is_used_by(peer)`, whether a rank works in that of this one.
template <class Channel>
class lane_member {
 public:
  int rank() const { return channel_->rank(); }
  int size() const { return channel_->size(); }

  void send(int peer, pieces message) { traffic_.send(peer, message); }
  bool sending() const { return traffic_.sending(); }
  void receive(int peer, sink& in) { traffic_.receive(peer, in); }

  bool progress(deadline until) {
    return wait([&] { return traffic_.move(); }, [&] { find_lost_peer(); }, until);
  }

  static constexpr std::size_t note_bytes = board::capacity;
  bool shares_addresses() const { return true; }

  void post(pieces note) {
    ++posted_;
    for (int peer = 0; peer < size(); ++peer) channel_->board_of(peer).prefetch(posted_);
    channel_->board_of(rank()).post(posted_, note);
    next_to_post_ = 0;
    for (int peer = 0; peer < size(); ++peer) {
      if (peer != rank()) channel_->bell(peer).ring();
    }
  }

  bool await_posts(deadline until) {
    const auto all_have = [&] {
      while (next_to_post_ < size() && has_posted(next_to_post_)) ++next_to_post_;
      return next_to_post_ == size();
    };
    const auto check_all = [&] {
      for (int peer = 0; peer < size(); ++peer) check_post(peer);
    };
    return wait(all_have, check_all, until);
  }

  bool await_post(int peer, deadline until) {
    return wait([&] { return has_posted(peer); }, [&] { check_post(peer); }, until);
  }

  bool has_posted(int rank) const { return channel_->board_of(rank).has(posted_); }
  std::span<const std::byte> note(int rank) const { return channel_->board_of(rank).note(posted_); }

  raised_flag visit() {
    raised_flag visiting(channel_->is_visiting(rank()));
    channel_->check();
    return visiting;
  }

 protected:
  explicit lane_member(std::unique_ptr<Channel> channel)
      : channel_(std::move(channel)), traffic_(*channel_, rank(), size()) {}

  Channel& member() const { return *channel_; }

  /// Waits until no other rank works in memory of this one: as long as one takes to finish what it has begun, ten
  /// seconds at most. From any thread.
  void wait_for_visitors() const {
    const auto until = deadline::after(std::chrono::seconds(10));
    for (int peer = 0; peer < size(); ++peer) {
      while (peer != rank() && channel_->is_used_by(peer) && !until.expired()) std::this_thread::yield();
    }
  }

 private:
  /// Waits until `move()` returns true, and until the deadline.
  bool wait(auto&& move, auto&& check, deadline until) {
    const auto move_unless_aborted = [&] {
      channel_->check();
      return move();
    };
    auto&& bell = channel_->bell(rank());
    return wait_until(until, size(), bell, move_unless_aborted, check);
  }

  /// Whether a rank has left is looked at first: it may have sent all, or posted, and then left.
  void find_lost_peer() {
    traffic_.for_each_sender([&](int peer) {
      const bool has_gone = channel_->has_gone(peer), has_posted = channel_->board_of(peer).has(posted_ + 1);
      if (!channel_->between(peer, rank()).empty()) return;
      if (has_posted) disagree(peer, "posts a note", "awaits a message");
      if (has_gone) lose(peer);
    });
    traffic_.for_each_receiver([&](int peer) {
      if (channel_->has_gone(peer)) lose(peer);
    });
  }

  void check_post(int peer) {
    const bool has_gone = channel_->has_gone(peer);
    const bool has_sent = peer != rank() && !channel_->between(peer, rank()).empty();
    if (has_posted(peer)) return;
    if (has_sent) disagree(peer, "sends a message", "posts a note");
    if (has_gone) lose(peer);
  }

  /// A rank that posts has sent all messages of before, and one that sends has posted all notes.
  [[noreturn]] void disagree(int peer, std::string_view there, std::string_view here) {
    channel_->check();
    throw error(errc::mismatch,
                concat("rank ", name(rank()), ": rank ", name(peer), ' ', there, " where this rank ", here,
                       ": it runs another algorithm or collective"),
                name(peer));
  }

  [[noreturn]] void lose(int peer) {
    channel_->check();  // an abort is why it has left
    throw error(errc::peer_lost, concat("rank ", name(rank()), ": rank ", name(peer), " has left"),
                name(peer));
  }

  int name(int rank) const { return channel_->name(rank); }

  std::unique_ptr<Channel> channel_;
  lane_traffic<Channel> traffic_;
  std::uint64_t posted_ = 0;  // notes
  int next_to_post_ = 0;      // the first rank of which the last note has not been seen
};

}  // namespace hccl::inline v0::detail
