// SPDX-License-Identifier: Apache-2.0
#pragma once

// LocalTransport: the ranks are threads of one process, and a receiver reads straight from the sender's
// memory.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/local_world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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

  void send(int peer, pieces message) {
    const auto is_before = [&](const departure& d) { return d.peer == peer; };
    if (std::ranges::any_of(queued_, is_before) || !post(peer, message)) queued_.push_back({peer, message});
  }

  bool sending() const {
    if (!queued_.empty()) return true;
    for (const loan& l : lent_) {
      if (!l.through->taken(l.ticket)) return true;
    }
    return false;
  }

  void receive(int peer, sink& in) {
    if (in.remaining() > 0) waiting_.push_back({peer, &in});
  }

  bool progress(deadline until) {
    detail::doorbell& bell = channel_->bell(rank_);
    for (detail::backoff wait(world_->size());; wait.pause(bell, until)) {
      wait.watch(bell);
      world_->check(rank_);
      if (move()) return true;
      find_lost_peer();
      if (until.expired()) return false;
    }
  }

  /// Returns when no peer reads memory of this rank any more.
  void abort(const error& why) noexcept {
    world_->abort(why, rank_);
    channel_->wait_for_readers(rank_);
  }

 private:
  struct arrival {
    int peer;
    sink* in;
  };
  struct departure {
    int peer;
    pieces message;
  };
  struct loan {  // a message that the peer reads in this rank's memory
    int peer;
    detail::lane* through;
    std::uint64_t ticket;
  };

  LocalTransport(std::shared_ptr<detail::local_world> shared, int rank, int channel)
      : world_(std::move(shared)), channel_(join(world_->channel(channel), rank)), rank_(rank) {
    // Room for what a round can have under way, so that no later one allocates.
    const auto most = 2 * static_cast<std::size_t>(size());
    waiting_.reserve(most);
    queued_.reserve(most);
    lent_.reserve(most);
    busy_.reserve(most);
  }

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

  bool post(int peer, pieces message) {
    detail::lane& lane = channel_->between(rank_, peer);
    const auto ticket = lane.put(message);
    if (!ticket) return false;
    if (*ticket != detail::lane::copied) lent_.push_back({peer, &lane, *ticket});
    channel_->bell(peer).ring();
    return true;
  }

  /// Moves what can be moved without waiting.
  bool move() {
    bool moved = false;
    // A peer whose lane has no room for an earlier message is busy; the others need not wait for it.
    busy_.assign(static_cast<std::size_t>(size()), false);
    moved |= std::erase_if(queued_, [&](const departure& d) {
               auto busy = busy_[static_cast<std::size_t>(d.peer)];
               busy = busy || !post(d.peer, d.message);
               return !busy;
             }) > 0;
    moved |= std::erase_if(lent_, [](const loan& l) { return l.through->taken(l.ticket); }) > 0;

    // A peer with an earlier arrival that is not complete is busy.
    busy_.assign(static_cast<std::size_t>(size()), false);
    for (arrival& a : waiting_) {
      if (busy_[static_cast<std::size_t>(a.peer)]) continue;
      if (drain(a)) moved = true;
      busy_[static_cast<std::size_t>(a.peer)] = a.in != nullptr;
    }
    std::erase_if(waiting_, [](const arrival& a) { return a.in == nullptr; });
    return moved;
  }

  /// Feeds an arrival with what its lane holds; forgets the sink once it is complete.
  bool drain(arrival& a) {
    detail::lane& lane = channel_->between(a.peer, rank_);
    if (lane.empty()) return false;
    const detail::lane::reading reading(lane);
    world_->check(rank_);  // once it is aborted, what was lent may be gone
    bool moved = false;
    while (a.in->remaining() > 0) {
      const auto chunk = lane.front();
      if (chunk.empty()) return moved;
      const std::size_t size = std::min(chunk.size(), a.in->remaining());
      a.in->consume(chunk.first(size));
      if (lane.pop(size)) channel_->bell(a.peer).ring();
      moved = true;
    }
    a.in = nullptr;
    return moved;
  }

  void find_lost_peer() {
    for (const arrival& a : waiting_) {
      if (channel_->has_left(a.peer) && channel_->between(a.peer, rank_).empty()) lose(a.peer);
    }
    for (const departure& d : queued_) {
      if (channel_->has_left(d.peer)) lose(d.peer);
    }
    for (const loan& l : lent_) {
      if (channel_->has_left(l.peer) && !l.through->taken(l.ticket)) lose(l.peer);
    }
  }

  [[noreturn]] void lose(int peer) {
    world_->check(rank_);  // an abort is why it has left
    throw error(errc::peer_lost, detail::concat("rank ", rank_, ": rank ", peer, " has left"), peer);
  }

  std::shared_ptr<detail::local_world> world_;
  membership channel_;
  int rank_ = 0;
  std::vector<arrival> waiting_;
  std::vector<departure> queued_;
  std::vector<loan> lent_;
  std::vector<bool> busy_;
};

static_assert(Transport<LocalTransport>);

}  // namespace hccl::inline v0
