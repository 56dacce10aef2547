// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one rank has under way in a channel of lanes. A lane is a queue of bytes from one rank to another, in memory
// that both can reach.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hccl::inline v0::detail {

inline constexpr std::size_t cache_line = 64;

/// The bytes of a message that have not been handed over yet.
class unsent {
 public:
  explicit unsent(pieces message) : rest_(message) {
    for (const auto piece : message) remaining_ += piece.size();
  }

  std::size_t remaining() const { return remaining_; }

  /// Copies the next `size` bytes to `to`.
  void copy(std::byte* to, std::size_t size) {
    remaining_ -= size;
    while (size > 0) {
      const auto piece = rest_.front().subspan(offset_);
      const std::size_t part = std::min(size, piece.size());
      copy_bytes(to, piece.data(), part);
      to += part;
      size -= part;
      offset_ += part;
      if (offset_ == rest_.front().size()) {
        rest_ = rest_.subspan(1);
        offset_ = 0;
      }
    }
  }

  /// Hands over all pieces as they are, before any is copied.
  pieces lend() {
    remaining_ = 0;
    return rest_;
  }

 private:
  pieces rest_;
  std::size_t offset_ = 0;  // in the first piece
  std::size_t remaining_ = 0;
};

/// The number of a message in a lane that has been lent, not copied.
using ticket = std::uint64_t;
inline constexpr ticket nothing_lent = ~ticket{0};

/// Sends, receives and moves the messages of one rank.
///
/// A Channel has `between(from, to)`, a lane, and `bell(rank)`, whose `ring()` wakes a rank that sleeps. For the sender
/// a lane has `bool put(unsent&, ticket&)`, which hands over what there is room for and tells whether that is anything,
/// and `bool is_read(ticket)`; for the receiver `bool take(sink&)`, which tells whether any byte has come.
template <class Channel>
class lane_traffic {
 public:
  /// The channel outlives this.
  lane_traffic(Channel& channel, int rank, int size) : channel_(&channel), rank_(rank) {
    // Room for what a round can have under way, so that no later one allocates.
    const auto most = 2 * static_cast<std::size_t>(size);
    arrivals_.reserve(most);
    departures_.reserve(most);
    loans_.reserve(most);
    is_busy_.resize(static_cast<std::size_t>(size));
  }

  /// Begins to send. The pieces stay put until `sending()` is false.
  void send(int peer, pieces message) {
    departure d{peer, unsent(message)};
    if (d.message.remaining() == 0) return;
    if (std::ranges::none_of(departures_, [&](const departure& o) { return o.peer == peer; })) put(d);
    if (d.message.remaining() > 0) departures_.push_back(d);
  }

  /// Tells whether any message is still read.
  bool sending() const {
    return !departures_.empty() || std::ranges::any_of(loans_, [&](const loan& l) { return !is_read(l); });
  }

  /// Begins to receive. The sink stays put until it has all its bytes.
  void receive(int peer, sink& in) {
    if (in.remaining() > 0) arrivals_.push_back({peer, &in});
  }

  /// Moves what can be moved without waiting; tells whether that was anything.
  bool move() {
    bool moved = false;
    serve(departures_, [&](departure& d) {
      moved |= put(d);
      return d.message.remaining() == 0;
    });
    moved |= std::erase_if(loans_, [&](const loan& l) { return is_read(l); }) > 0;
    serve(arrivals_, [&](arrival& a) {
      if (channel_->between(a.peer, rank_).take(*a.in)) {
        channel_->bell(a.peer).ring();  // it may have waited for room, or for the end of a loan
        moved = true;
      }
      return a.in->remaining() == 0;
    });
    return moved;
  }

  /// Calls `f` with each rank of which bytes are awaited.
  void for_each_sender(auto&& f) const {
    for (const arrival& a : arrivals_) f(a.peer);
  }

  /// Calls `f` with each rank that has not taken all that was sent to it.
  void for_each_receiver(auto&& f) const {
    for (const departure& d : departures_) f(d.peer);
    for (const loan& l : loans_) {
      if (!is_read(l)) f(l.peer);
    }
  }

 private:
  struct arrival {
    int peer;
    sink* in;
  };
  struct departure {
    int peer;
    unsent message;
  };
  struct loan {
    int peer;
    ticket number;
  };

  bool put(departure& d) {
    ticket lent = nothing_lent;
    if (!channel_->between(rank_, d.peer).put(d.message, lent)) return false;
    if (lent != nothing_lent) loans_.push_back({d.peer, lent});
    channel_->bell(d.peer).ring();
    return true;
  }

  bool is_read(const loan& l) const { return channel_->between(rank_, l.peer).is_read(l.number); }

  /// Calls `f` with the first item of each peer, then with the next of that peer as long as `f` says that one is
  /// complete. What is complete is removed.
  void serve(auto& items, auto&& f) {
    if (items.empty()) return;
    std::ranges::fill(is_busy_, 0);
    std::erase_if(items, [&](auto& item) {
      char& busy = is_busy_[static_cast<std::size_t>(item.peer)];
      busy = busy || !f(item);
      return !busy;
    });
  }

  Channel* channel_;
  int rank_;
  std::vector<arrival> arrivals_;
  std::vector<departure> departures_;
  std::vector<loan> loans_;
  std::vector<char> is_busy_;  // by peer
};

}  // namespace hccl::inline v0::detail
