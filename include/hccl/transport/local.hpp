// SPDX-License-Identifier: Apache-2.0
#pragma once

// LocalTransport: the ranks are threads of one process, and a receiver reads straight from the sender's
// memory.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/board.hpp>
#include <hccl/transport/detail/lane_traffic.hpp>
#include <hccl/transport/detail/local_world.hpp>
#include <hccl/transport/detail/wait.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace hccl::inline v0 {

/// Moves bytes between threads of one process.
///
/// A small message travels inside its lane; of a larger one only the address travels, and the receiver takes
/// the bytes, or reduces them, from where the sender has them. Waits spin briefly, yield, then sleep. A rank
/// whose transport is gone is lost to those who wait for it. Thread-safety: one thread per rank; `abort` from
/// any.
class LocalTransport {
 public:
  static constexpr std::string_view name = "local";
  static constexpr link_model link{
      .latency = 8e-7, .overhead = 2e-7, .seconds_per_byte = 8e-11, .reduction = 3e-11};

  /// A world of `size` ranks; each of its transports is to be used by one thread. The world lives as long as
  /// one of them.
  class world {
   public:
    explicit world(int size) : shared_(std::make_shared<detail::local_world>(size)) {}

    /// Throws `invalid_argument` for a rank outside the world.
    LocalTransport transport(int rank) const {
      if (rank < 0 || rank >= shared_->size()) {
        throw error(errc::invalid_argument,
                    detail::concat("there is no rank ", rank, " in a local world of ", shared_->size()));
      }
      return LocalTransport(shared_, rank, 0);
    }

    /// Makes all ranks fail, on behalf of rank `by`.
    void abort(const error& why, int by) const noexcept { shared_->abort(why, by); }

   private:
    std::shared_ptr<detail::local_world> shared_;
  };

  /// A world of one rank.
  LocalTransport() : LocalTransport(std::make_shared<detail::local_world>(1), 0, 0) {}

  int rank() const { return rank_; }
  int size() const { return world_->size(); }
  LocalTransport channel(int id) const { return LocalTransport(world_, rank_, id); }

  void send(int peer, pieces message) { traffic_.send(peer, message); }
  bool sending() const { return traffic_.sending(); }
  void receive(int peer, sink& in) { traffic_.receive(peer, in); }

  bool progress(deadline until) {
    const auto move = [&] {
      world_->check(rank_);
      return traffic_.move();
    };
    return detail::wait_until(until, size(), channel_->bell(rank_), move, [&] { find_lost_peer(); });
  }

  static constexpr std::size_t note_bytes = detail::board::capacity;

  void post(pieces note) {
    channel_->board_of(rank_).post(++posted_, note);
    next_to_post_ = 0;
    for (int peer = 0; peer < size(); ++peer) {
      if (peer != rank_) channel_->bell(peer).ring();
    }
  }

  bool await_posts(deadline until) {
    const auto all_have = [&] {
      world_->check(rank_);
      while (next_to_post_ < size() && has_posted(next_to_post_)) ++next_to_post_;
      return next_to_post_ == size();
    };
    const auto find_lost = [&] {
      for (int peer = 0; peer < size(); ++peer) {
        const bool has_left = channel_->has_left(peer);
        const bool has_sent = peer != rank_ && !channel_->between(peer, rank_).empty();
        if (has_posted(peer))
          continue;  // looked at last: it may have posted, sent for the next call and left
        if (has_sent) disagree(peer, "sends a message", "posts a note");
        if (has_left) lose(peer);
      }
    };
    return detail::wait_until(until, size(), channel_->bell(rank_), all_have, find_lost);
  }

  bool has_posted(int rank) const { return channel_->board_of(rank).has(posted_); }
  std::span<const std::byte> note(int rank) const { return channel_->board_of(rank).note(posted_); }
  std::byte* reach(int, std::byte* address) const { return address; }

  detail::raised_flag visit() {
    detail::raised_flag visiting(channel_->is_visiting(rank_));
    world_->check(rank_);
    return visiting;
  }

  /// Returns when no peer reads memory of this rank any more.
  void abort(const error& why) noexcept {
    world_->abort(why, rank_);
    channel_->wait_for_readers(rank_);
  }

 private:
  LocalTransport(std::shared_ptr<detail::local_world> shared, int rank, int channel)
      : world_(std::move(shared)),
        channel_(join(world_->channel(channel), rank)),
        rank_(rank),
        traffic_(*channel_, rank, size()) {}

  /// Says goodbye when a member of a channel is gone.
  struct leave {
    std::shared_ptr<detail::local_channel> keep;
    int rank = 0;
    void operator()(detail::local_channel* channel) const noexcept { channel->leave(rank); }
  };
  using membership = std::unique_ptr<detail::local_channel, leave>;

  static membership join(std::shared_ptr<detail::local_channel> channel, int rank) {
    detail::local_channel* const member = channel.get();
    return membership(member, leave{std::move(channel), rank});
  }

  void find_lost_peer() {
    traffic_.for_each_sender([&](int peer) {
      const bool has_left = channel_->has_left(peer), has_posted = channel_->board_of(peer).has(posted_ + 1);
      if (!channel_->between(peer, rank_).empty()) return;
      if (has_posted) disagree(peer, "posts a note", "awaits a message");
      if (has_left) lose(peer);
    });
    traffic_.for_each_receiver([&](int peer) {
      if (channel_->has_left(peer)) lose(peer);
    });
  }

  /// A rank that posts has sent all messages of before, and one that sends has posted all notes.
  [[noreturn]] void disagree(int peer, std::string_view there, std::string_view here) {
    world_->check(rank_);
    throw error(errc::mismatch,
                detail::concat("rank ", rank_, ": rank ", peer, ' ', there, " where this rank ", here,
                               ": it runs another algorithm or collective"),
                peer);
  }

  [[noreturn]] void lose(int peer) {
    world_->check(rank_);  // an abort is why it has left
    throw error(errc::peer_lost, detail::concat("rank ", rank_, ": rank ", peer, " has left"), peer);
  }

  std::shared_ptr<detail::local_world> world_;
  membership channel_;
  int rank_ = 0;
  detail::lane_traffic<detail::local_channel> traffic_;
  std::uint64_t posted_ = 0;  // notes
  int next_to_post_ = 0;      // the first rank of which the last note has not been seen
};

static_assert(SharedAddressTransport<LocalTransport>);

}  // namespace hccl::inline v0
