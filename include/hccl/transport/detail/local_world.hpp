// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the threads of a LocalTransport share: a lane per ordered pair of ranks, a doorbell per rank, and the
// word of an abort.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace hccl::inline v0::detail {

inline constexpr std::size_t cache_line = 64;

/// A queue of messages from one rank to another. One thread puts, one takes.
///
/// The sender publishes a slot by a store of `put_`, which the receiver's acquire load pairs with; the
/// receiver gives it back by a store of `taken_`, so that the sender may change the memory that it had lent.
/// Both stores, and the loads by which each side sees whether the lane is full, are sequentially consistent:
/// either the sender finds room or the receiver knows that it waits.
class lane {
 public:
  static constexpr std::uint64_t copied = ~std::uint64_t{0};

  /// Puts a message. Returns `copied` if its memory is free again, else the ticket of a loan; nothing if the
  /// lane is full.
  std::optional<std::uint64_t> put(pieces message) {
    std::size_t size = 0;
    for (const auto piece : message) size += piece.size();
    if (size == 0) return copied;
    const std::uint64_t ticket = put_.load(std::memory_order_relaxed);
    if (ticket - taken_.load() == slots_.size()) return std::nullopt;
    slot& s = slots_[ticket % slots_.size()];
    const bool fits = size <= s.copy.size();
    s.lent = fits ? pieces() : message;
    s.copied = fits ? size : 0;
    if (fits) {
      std::byte* to = s.copy.data();
      for (const auto piece : message) {
        if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
        to += piece.size();
      }
    }
    put_.store(ticket + 1);
    return fits ? copied : ticket;
  }

  /// Tells the sender whether the message of a loan has been read.
  bool taken(std::uint64_t ticket) const { return taken_.load(std::memory_order_acquire) > ticket; }

  /// Tells the receiver whether there is no message.
  bool empty() const {
    return taken_.load(std::memory_order_relaxed) == put_.load(std::memory_order_acquire);
  }

  /// The next bytes for the receiver; empty if there are none.
  std::span<const std::byte> front() {
    if (empty()) return {};
    const std::uint64_t ticket = taken_.load(std::memory_order_relaxed);
    const slot& s = slots_[ticket % slots_.size()];
    if (s.lent.empty()) return std::span(s.copy).first(s.copied).subspan(offset_);
    while (s.lent[piece_].empty()) ++piece_;
    return s.lent[piece_].subspan(offset_);
  }

  /// Takes `size` bytes from the front; tells whether the sender may be waiting for that: for the end of a
  /// loan, or for room.
  bool pop(std::size_t size) {
    const std::uint64_t ticket = taken_.load(std::memory_order_relaxed);
    const slot& s = slots_[ticket % slots_.size()];
    offset_ += size;
    if (s.lent.empty()) return offset_ == s.copied && finish(ticket);
    if (offset_ < s.lent[piece_].size()) return false;
    ++piece_;
    offset_ = 0;
    while (piece_ < s.lent.size() && s.lent[piece_].empty()) ++piece_;
    if (piece_ < s.lent.size()) return false;
    finish(ticket);
    return true;
  }

  /// Held by the receiver while it reads messages. Its beginning is sequentially consistent, as is the word
  /// of an abort: either the receiver sees the abort before it reads, or the sender sees the receiver.
  class reading {
   public:
    explicit reading(lane& l) : lane_(l) { lane_.is_read_.store(true); }
    ~reading() { lane_.is_read_.store(false, std::memory_order_release); }
    reading(const reading&) = delete;
    reading& operator=(const reading&) = delete;

   private:
    lane& lane_;
  };

  bool is_read() const { return is_read_.load(); }

 private:
  struct slot {
    pieces lent;
    std::size_t copied = 0;
    std::array<std::byte, 232> copy;
  };

  /// Gives the slot back; tells whether the lane was full.
  bool finish(std::uint64_t ticket) {
    piece_ = 0;
    offset_ = 0;
    taken_.store(ticket + 1);
    return put_.load() - ticket == slots_.size();
  }

  alignas(cache_line) std::atomic<std::uint64_t> put_ = 0;
  alignas(cache_line) std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<bool> is_read_ = false;
  std::size_t piece_ = 0;   // of the front message, the receiver's own
  std::size_t offset_ = 0;  // in that piece
  alignas(cache_line) std::array<slot, 8> slots_;
};

/// Wakes a rank. Rung after something was published for it.
class doorbell {
 public:
  /// The number of rings so far. Sequentially consistent, as is `ring`: either the sleeper sees the new
  /// number or the one who rings sees the sleeper.
  std::uint32_t rings() const { return rings_.load(); }

  void ring() {
    rings_.fetch_add(1);
    if (!asleep_.load()) return;
    const std::lock_guard lock(mutex_);
    woken_.notify_one();
  }

  /// Sleeps until the number of rings is no longer `seen`, or the deadline passes.
  void sleep(std::uint32_t seen, deadline until) {
    std::unique_lock lock(mutex_);
    asleep_.store(true);
    const auto rung = [&] { return rings_.load() != seen; };
    if (until == deadline::never()) {
      woken_.wait(lock, rung);
    } else {
      woken_.wait_until(lock, until.time(), rung);
    }
    asleep_.store(false);
  }

 private:
  alignas(cache_line) std::atomic<std::uint32_t> rings_ = 0;
  std::atomic<bool> asleep_ = false;
  std::mutex mutex_;
  std::condition_variable woken_;
};

/// The pauses of one wait: spins while every rank has a core of its own, then yields, then sleeps.
class backoff {
 public:
  explicit backoff(int ranks) : spins_(static_cast<unsigned>(ranks) <= cores() ? 2000 : 0) {}

  /// Notes the rings before the caller looks for work, so that a ring in between is not slept through.
  void watch(const doorbell& bell) { seen_ = bell.rings(); }

  void pause(doorbell& bell, deadline until) {
    if (paused_ < spins_) {
      for (; paused_ < spins_ && bell.rings() == seen_; ++paused_) relax();
    } else if (paused_ < spins_ + yields) {
      for (; paused_ < spins_ + yields && bell.rings() == seen_; ++paused_) std::this_thread::yield();
    } else {
      bell.sleep(seen_, until);
    }
  }

 private:
  static constexpr int yields = 100;

  static unsigned cores() {
    static const unsigned count = std::thread::hardware_concurrency();
    return count;
  }

  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int spins_;
  int paused_ = 0;
  std::uint32_t seen_ = 0;
};

/// The lanes and doorbells of one channel.
class local_channel {
 public:
  explicit local_channel(int ranks)
      : ranks_(ranks),
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
      auto made = std::make_unique<lane>();
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

  /// Waits until nobody reads what `rank` has lent: as long as a peer takes to reduce it, ten seconds at most.
  void wait_for_readers(int rank) const {
    const auto until = deadline::after(std::chrono::seconds(10));
    for (int peer = 0; peer < ranks_; ++peer) {
      const lane* const l = lanes_[index(rank) * index(ranks_) + index(peer)].load();
      while (l != nullptr && l->is_read() && !until.expired()) std::this_thread::yield();
    }
  }

 private:
  struct member {
    doorbell bell;
    std::atomic<bool> left = false;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  int ranks_;
  std::vector<std::atomic<lane*>> lanes_;
  std::vector<member> members_;
};

/// All channels of a world, and why it was aborted if it was.
class local_world {
 public:
  explicit local_world(int size) : size_(size) {
    if (size < 1)
      throw error(errc::invalid_argument, concat("a local world needs at least 1 rank, not ", size));
  }

  int size() const { return size_; }

  std::shared_ptr<local_channel> channel(int id) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<local_channel>& found = channels_[id];
    if (!found) found = std::make_shared<local_channel>(size_);
    return found;
  }

  /// Makes every rank fail from now on. The first reason stands.
  void abort(const error& why, int by) noexcept {
    const std::lock_guard lock(mutex_);
    if (!reason_) {
      reason_.emplace(why);
      by_ = by;
      aborted_.store(true);
    }
    for (auto& [id, c] : channels_) c->ring_all();
  }

  /// Throws if the world was aborted.
  void check(int rank) {
    if (!aborted_.load()) return;
    const std::lock_guard lock(mutex_);
    throw error(reason_->kind(), concat("rank ", rank, ": aborted by rank ", by_, ": ", reason(*reason_)),
                reason_->failed_rank() == no_rank ? by_ : reason_->failed_rank());
  }

 private:
  int size_;
  std::atomic<bool> aborted_ = false;
  std::mutex mutex_;
  std::map<int, std::shared_ptr<local_channel>> channels_;
  std::optional<error> reason_;
  int by_ = no_rank;
};

}  // namespace hccl::inline v0::detail
