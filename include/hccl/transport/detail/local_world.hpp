// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the threads of a LocalTransport share: a lane per ordered pair of ranks, a doorbell per rank, and the
// word of an abort.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/board.hpp>
#include <hccl/transport/detail/lane_traffic.hpp>
#include <hccl/transport/detail/raised_flag.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// Up to how many bytes of a message are copied into a lane: none if the sender cannot read them itself.
enum class copied_bytes : std::size_t {};
inline constexpr copied_bytes copies_small{224}, lends_all{0};

/// A queue of messages from one rank to another. One thread puts, one takes.
///
/// A small message is copied into a slot; of a larger one the pieces are lent, and read where they are. The sender
/// publishes a slot by a store of its number, which the receiver's load pairs with; the receiver gives it back by a
/// store of `read_`, so that the sender may change what it had lent. All four are sequentially consistent, as is the
/// doorbell: either a rank that is about to sleep sees what is new, or the other one sees that it sleeps.
class lane {
 public:
  lane(const std::atomic<bool>& aborted, copied_bytes most)
      : aborted_(&aborted), most_copied_(static_cast<std::size_t>(most)) {}

  bool put(unsent& message, ticket& lent) {
    if (put_ - seen_read_ == slots_.size()) seen_read_ = read_.load();
    if (put_ - seen_read_ == slots_.size()) return false;
    slot& s = slots_[put_ % slots_.size()];
    s.lent = {};
    s.size = message.remaining();
    if (s.size <= most_copied_) {
      message.copy(s.copy.data(), s.size);
    } else {
      s.lent = message.lend();
      lent = put_;
    }
    s.number.store(++put_);
    return true;
  }

  bool is_read(ticket number) const { return read_.load() > number; }

  bool take(sink& in) {
    if (empty()) return false;
    const raised_flag reading(is_reading_);
    if (aborted_->load()) return false;
    while (in.remaining() > 0 && !empty()) {
      const auto chunk = front();
      const std::size_t size = std::min(chunk.size(), in.remaining());
      in.consume(chunk.first(size));
      pop(size);
    }
    return true;
  }

  /// Tells the receiver whether there is nothing to take.
  bool empty() const { return slots_[taken_ % slots_.size()].number.load() != taken_ + 1; }

  /// Tells whether the receiver may be reading memory of the sender.
  bool is_reading() const { return is_reading_.load(); }

 private:
  struct slot {
    std::atomic<std::uint64_t> number = 0;  // one more than the ticket of the message
    std::size_t size = 0;
    pieces lent;  // or none
    std::array<std::byte, static_cast<std::size_t>(copies_small)> copy;
  };

  /// The next bytes. A message has some.
  std::span<const std::byte> front() {
    const slot& s = slots_[taken_ % slots_.size()];
    if (s.lent.empty()) return std::span(s.copy).first(s.size).subspan(offset_);
    for (; s.lent[piece_].size() == offset_; offset_ = 0) ++piece_;
    return s.lent[piece_].subspan(offset_);
  }

  void pop(std::size_t size) {
    const slot& s = slots_[taken_ % slots_.size()];
    offset_ += size;
    taken_bytes_ += size;
    if (taken_bytes_ < s.size) return;
    piece_ = offset_ = taken_bytes_ = 0;
    read_.store(++taken_);
  }

  const std::atomic<bool>* aborted_;
  std::size_t most_copied_;
  alignas(cache_line) std::uint64_t put_ = 0;  // the sender's own
  std::uint64_t seen_read_ = 0;
  alignas(cache_line) std::atomic<std::uint64_t> read_ = 0;
  std::atomic<bool> is_reading_ = false;
  std::uint64_t taken_ = 0;  // the receiver's own, as is what follows
  std::size_t piece_ = 0;    // of the message in front
  std::size_t offset_ = 0;   // in that piece
  std::size_t taken_bytes_ = 0;
  alignas(cache_line) std::array<slot, 8> slots_;
};

/// Wakes a rank that sleeps.
class doorbell {
 public:
  /// Rung after something was published for the rank.
  void ring() {
    if (!is_watching_.load()) return;
    const std::lock_guard lock(mutex_);
    is_rung_ = true;
    woken_.notify_one();
  }

  /// Asks to be rung for what is published from now on; the caller looks once more before it sleeps.
  void watch() {
    const std::lock_guard lock(mutex_);
    is_rung_ = false;
    is_watching_.store(true);
  }

  void ignore() { is_watching_.store(false); }

  /// Sleeps until the bell is rung or the deadline passes.
  void sleep(deadline until) {
    std::unique_lock lock(mutex_);
    const auto rung = [&] { return is_rung_; };
    if (until == deadline::never()) {
      woken_.wait(lock, rung);
    } else {
      woken_.wait_until(lock, until.time(), rung);
    }
  }

 private:
  alignas(cache_line) std::atomic<bool> is_watching_ = false;
  bool is_rung_ = false;
  std::mutex mutex_;
  std::condition_variable woken_;
};

/// The lanes and doorbells of one channel.
class local_channel {
 public:
  /// `aborted` tells whether the world is, and outlives the channel.
  local_channel(int ranks, const std::atomic<bool>& aborted, copied_bytes most)
      : ranks_(ranks),
        aborted_(aborted),
        most_copied_(most),
        lanes_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)),
        members_(static_cast<std::size_t>(ranks)) {}

  ~local_channel() {
    for (auto& l : lanes_) delete l.load();
  }

  local_channel(const local_channel&) = delete;
  local_channel& operator=(const local_channel&) = delete;

  /// The lane between two ranks, made when first asked for.
  lane& between(int from, int to) {
    std::atomic<lane*>& place = lanes_[index(from) * index(ranks_) + index(to)];
    lane* found = place.load(std::memory_order_acquire);
    if (found == nullptr) {
      auto made = std::make_unique<lane>(aborted_, most_copied_);
      if (place.compare_exchange_strong(found, made.get())) found = made.release();
    }
    return *found;
  }

  doorbell& bell(int rank) { return members_[index(rank)].bell; }

  bool has_left(int rank) const { return members_[index(rank)].left.load(std::memory_order_acquire); }

  void leave(int rank) {
    members_[index(rank)].left.store(true, std::memory_order_release);
    ring_all();
  }

  void ring_all() {
    for (member& m : members_) m.bell.ring();
  }

  board& board_of(int rank) { return members_[index(rank)].notes; }

  /// Set while a rank works in the memory of others.
  std::atomic<bool>& is_visiting(int rank) { return members_[index(rank)].is_visiting; }

  /// Whether `peer` reads what `rank` has lent, or works in memory that others have told of.
  bool is_used(int rank, int peer) const {
    const lane* const l = lanes_[index(rank) * index(ranks_) + index(peer)].load();
    return members_[index(peer)].is_visiting.load() || (l != nullptr && l->is_reading());
  }

 private:
  struct member {
    doorbell bell;
    std::atomic<bool> left = false;
    alignas(cache_line) std::atomic<bool> is_visiting = false;
    board notes;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  int ranks_;
  const std::atomic<bool>& aborted_;
  copied_bytes most_copied_;
  std::vector<std::atomic<lane*>> lanes_;
  std::vector<member> members_;
};

/// All channels of a world, and why it was aborted if it was.
class local_world {
 public:
  explicit local_world(int size, copied_bytes most = copies_small) : size_(size), most_copied_(most) {
    if (size < 1)
      throw error(errc::invalid_argument, concat("a local world needs at least 1 rank, not ", size));
  }

  int size() const { return size_; }

  std::shared_ptr<local_channel> channel(int id) {
    const std::lock_guard lock(mutex_);
    for (const numbered& c : channels_) {
      if (c.id == id) return c.channel;
    }
    return channels_
        .emplace_back(numbered{id, std::make_shared<local_channel>(size_, aborted_, most_copied_)})
        .channel;
  }

  /// Makes every rank fail from now on. The first reason stands.
  void abort(const error& why, int by) noexcept {
    const std::lock_guard lock(mutex_);
    if (!reason_) {
      reason_.emplace(why);
      by_ = by;
      aborted_.store(true);
    }
    for (const numbered& c : channels_) c.channel->ring_all();
  }

  /// Throws if the world was aborted.
  void check(int rank) {
    if (!aborted_.load()) return;
    const std::lock_guard lock(mutex_);
    throw error(reason_->kind(), concat("rank ", rank, ": aborted by rank ", by_, ": ", reason(*reason_)),
                reason_->failed_rank() == no_rank ? by_ : reason_->failed_rank());
  }

 private:
  struct numbered {
    int id;
    std::shared_ptr<local_channel> channel;
  };

  int size_;
  copied_bytes most_copied_;
  std::atomic<bool> aborted_ = false;
  std::mutex mutex_;
  std::vector<numbered> channels_;
  std::optional<error> reason_;
  int by_ = no_rank;
};

/// What one rank sees of a channel. It says goodbye at the end.
class local_member {
 public:
  local_member(std::shared_ptr<local_world> world, int rank, int channel)
      : world_(std::move(world)), channel_(world_->channel(channel)), rank_(rank) {}

  local_member(const local_member&) = delete;
  local_member& operator=(const local_member&) = delete;
  ~local_member() { channel_->leave(rank_); }

  const std::shared_ptr<local_world>& world() const { return world_; }
  int rank() const { return rank_; }
  int size() const { return world_->size(); }
  int name(int rank) const { return rank; }
  void check() const { world_->check(rank_); }

  lane& between(int from, int to) const { return channel_->between(from, to); }
  doorbell& bell(int rank) const { return channel_->bell(rank); }
  board& board_of(int rank) const { return channel_->board_of(rank); }
  std::atomic<bool>& is_visiting(int rank) const { return channel_->is_visiting(rank); }
  bool has_gone(int rank) const { return channel_->has_left(rank); }
  bool is_used_by(int peer) const { return channel_->is_used(rank_, peer); }

 private:
  std::shared_ptr<local_world> world_;
  std::shared_ptr<local_channel> channel_;
  int rank_;
};

}  // namespace hccl::inline v0::detail
