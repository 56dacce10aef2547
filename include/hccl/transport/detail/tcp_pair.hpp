// SPDX-License-Identifier: Apache-2.0
#pragma once

// The traffic between this rank and one other, over one connected socket. Nothing here waits.

#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace hccl::inline v0::detail {

/// A first-in-first-out queue that reuses its memory.
template <class T>
class tcp_queue {
 public:
  void push(const T& item) {
    if (head_ > 0 && items_.size() == items_.capacity()) drop_gone();
    items_.push_back(item);
  }

  void pop() {
    if (++head_ == items_.size()) drop_gone();
  }

  bool empty() const { return items_.empty(); }
  T& front() { return items_[head_]; }
  std::span<T> waiting() { return std::span(items_).subspan(head_); }

 private:
  void drop_gone() {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  std::vector<T> items_;
  std::size_t head_ = 0;
};

/// What became of an attempt to move bytes.
enum class tcp_outcome { moved, nothing, lost };

class tcp_pair {
 public:
  explicit tcp_pair(asio::io_context& io) : socket(io) {}

  tcp::socket socket;

  bool sending() const { return !sends_.empty(); }
  bool receiving() const { return !receives_.empty(); }

  void send(pieces message) {
    if (std::ranges::any_of(message, [](auto piece) { return !piece.empty(); })) sends_.push({message, 0});
  }

  void receive(sink& in) {
    if (in.remaining() > 0) receives_.push(&in);
  }

  /// Writes as much as the system takes at once.
  tcp_outcome send_some() {
    std::array<asio::const_buffer, most_buffers> buffers;
    const std::span<const asio::const_buffer> gathered(buffers.data(), gather(buffers));
    asio_error failure;
    const auto written = socket.write_some(gathered, failure);
    if (written == 0) return judge(failure);
    drop_sent(written);
    return tcp_outcome::moved;
  }

  /// Reads once: straight into the window of the first sink where it has one, else into `chunk`, from where
  /// the sinks that wait take their bytes while they are in the cache. Reads nothing that no sink waits for.
  tcp_outcome receive_some(std::span<std::byte> chunk) {
    sink& first = *receives_.front();
    const auto window = first.window();
    const bool direct = window.size() >= least_window;
    const auto target = direct ? window : chunk.first(std::min(chunk.size(), expected()));
    asio_error failure;
    const auto count = socket.read_some(asio::buffer(target.data(), target.size()), failure);
    if (count == 0) return judge(failure);
    if (direct) {
      first.commit(count);
      if (first.remaining() == 0) receives_.pop();
    } else {
      distribute(target.first(count));
    }
    return tcp_outcome::moved;
  }

 private:
  static constexpr std::size_t most_buffers = 64;    // that Asio passes to one system call
  static constexpr std::size_t least_window = 4096;  // below, several small messages are better read together

  struct outgoing {
    pieces rest;         // pieces not yet sent as a whole
    std::size_t offset;  // bytes of the first of them that have been sent
  };

  static tcp_outcome judge(const asio_error& failure) {
    const bool nothing = failure == asio::error::would_block || failure == asio::error::interrupted;
    return nothing ? tcp_outcome::nothing : tcp_outcome::lost;
  }

  std::size_t gather(std::array<asio::const_buffer, most_buffers>& buffers) {
    std::size_t count = 0;
    for (const auto& message : sends_.waiting()) {
      auto offset = message.offset;
      for (const auto piece : message.rest) {
        if (count == most_buffers) return count;
        if (piece.size() > offset) buffers[count++] = {piece.data() + offset, piece.size() - offset};
        offset = 0;
      }
    }
    return count;
  }

  void drop_sent(std::size_t count) {
    while (!sends_.empty()) {
      auto& [rest, offset] = sends_.front();
      while (!rest.empty() && rest.front().size() - offset <= count) {
        count -= rest.front().size() - offset;
        rest = rest.subspan(1);
        offset = 0;
      }
      if (!rest.empty()) {
        offset += count;
        return;
      }
      sends_.pop();
    }
  }

  std::size_t expected() {
    std::size_t sum = 0;
    for (const sink* in : receives_.waiting()) {
      const auto room = std::numeric_limits<std::size_t>::max() - sum;
      sum += std::min(room, in->remaining());
    }
    return sum;
  }

  void distribute(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      sink& in = *receives_.front();
      const auto part = bytes.first(std::min(bytes.size(), in.remaining()));
      in.consume(part);
      bytes = bytes.subspan(part.size());
      if (in.remaining() == 0) receives_.pop();
    }
  }

  tcp_queue<outgoing> sends_;
  tcp_queue<sink*> receives_;
};

}  // namespace hccl::inline v0::detail
