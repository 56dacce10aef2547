// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages between two ranks, matched by tag.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/copies.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// Takes a message into memory of exactly its size. `copies`: none if message and memory are of the host.
class memory_sink final : public sink {
 public:
  explicit memory_sink(std::span<std::byte> memory, copy_engine* copies = nullptr)
      : sink(memory.size()), rest_(memory), copies_(copies) {}

  std::span<std::byte> window() override { return copies_ == nullptr ? rest_ : std::span<std::byte>(); }

 private:
  void take(std::span<const std::byte> chunk) override {
    copy_by(copies_, rest_.data(), chunk, copy_direction::device_to_device);
    rest_ = rest_.subspan(chunk.size());
  }
  void placed(std::size_t size) override { rest_ = rest_.subspan(size); }

  std::span<std::byte> rest_;
  copy_engine* copies_;
};

/// What travels in front of a tagged message.
struct envelope {
  std::int64_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint32_t element_bytes = 0;
  std::uint32_t element = 0;  // digest of its name
};
static_assert(std::is_trivially_copyable_v<envelope> && sizeof(envelope) == 24);

/// One message to a rank, or from one.
struct parcel {
  bool is_sent;
  int peer;
  envelope head;              // of what is received: the tag, the element, and as many bytes as are expected
  std::span<std::byte> data;  // of what is sent only read
};

/// Sends and receives tagged messages over a transport of their own. A message that arrives while another tag
/// is asked for is held until its tag is; what is held is bounded.
class mailbox {
 public:
  static constexpr std::size_t capacity = std::size_t{256}
                                          << 20;  ///< bytes held for tags that nobody has asked for

  /// Sends `data`; returns when it may be changed.
  template <Transport Net>
  void send(Net& net, const envelope& head, std::span<const std::byte> data, int peer, deadline until) {
    if (peer == net.rank()) return keep(net, head, data);
    outgoing_.clear();
    begin_send(net, head, data, peer);
    finish_sends(net, "send", until);
  }

  /// Receives the next message of `peer` with the tag of `wanted`; returns its size in bytes, at most
  /// `data.size()`.
  template <Transport Net>
  std::size_t receive(Net& net, const envelope& wanted, std::span<std::byte> data, int peer, deadline until) {
    const int self = net.rank();
    for (auto m = held_.begin(); m != held_.end(); ++m) {
      if (m->peer != peer || m->head.tag != wanted.tag) continue;
      check(m->head, wanted, data.size(), self, peer);
      copy_by(copies_of(net), data.data(), m->data, copy_direction::host_to_device);
      held_bytes_ -= m->data.size();
      const std::size_t size = m->data.size();
      held_.erase(m);
      return size;
    }
    if (peer == self) {
      throw error(errc::timeout,
                  concat("rank ", self, ": recv from itself: nothing was sent under tag ", wanted.tag), self);
    }
    while (true) {
      envelope head;
      fill(net, memory_sink(std::as_writable_bytes(std::span(&head, 1))), wanted, peer, until);
      if (head.tag == wanted.tag) {
        check(head, wanted, data.size(), self, peer);
        fill(net, memory_sink(data.first(head.bytes), copies_of(net)), wanted, peer, until);
        return head.bytes;
      }
      check_room(head.bytes, self, peer, head.tag);
      std::vector<std::byte> other(head.bytes);
      fill_on_host(net, other, wanted, peer, until);
      hold(peer, head, std::move(other), self);
    }
  }

  /// Sends to one rank while it receives from another.
  template <Transport Net>
  std::size_t exchange(Net& net, const envelope& head, std::span<const std::byte> out, int to,
                       std::span<std::byte> in, int from, deadline until) {
    if (to == net.rank()) {
      send(net, head, out, to, until);
      return receive(net, head, in, from, until);
    }
    outgoing_.clear();
    begin_send(net, head, out, to);
    const std::size_t size = receive(net, head, in, from, until);
    finish_sends(net, "sendrecv", until);
    return size;
  }

  /// Sends and receives many messages at once: no order among them can make ranks wait for each other.
  template <Transport Net>
  void exchange_all(Net& net, std::span<const parcel> parcels, deadline until) {
    outgoing_.clear();
    outgoing_.reserve(parcels.size());  // what the transport reads stays put
    for (const parcel& p : parcels) {
      if (!p.is_sent) continue;
      if (p.peer == net.rank()) {
        keep(net, p.head, p.data);
      } else {
        begin_send(net, p.head, p.data, p.peer);
      }
    }
    for (const parcel& p : parcels) {
      if (p.is_sent) continue;
      const std::size_t size = receive(net, p.head, p.data, p.peer, until);
      if (size != p.data.size()) {
        throw error(
            errc::mismatch,
            concat("rank ", net.rank(), ": batch_send_recv: rank ", p.peer, ", tag ", p.head.tag, ": sent ",
                   size / p.head.element_bytes, " elements, expected ", p.data.size() / p.head.element_bytes),
            p.peer);
      }
    }
    finish_sends(net, "batch_send_recv", until);
  }

 private:
  struct message {
    int peer;
    envelope head;
    std::vector<std::byte> data;
  };

  /// What the transport is sending.
  struct outgoing {
    int peer;
    envelope head;
    std::array<std::span<const std::byte>, 2> pieces;
  };

  template <Transport Net>
  void begin_send(Net& net, const envelope& head, std::span<const std::byte> data, int peer) {
    outgoing& o = outgoing_.emplace_back(outgoing{peer, head, {}});
    o.pieces = {std::as_bytes(std::span(&o.head, 1)), data};
    net.send(peer, o.pieces);
  }

  template <Transport Net>
  void finish_sends(Net& net, std::string_view operation, deadline until) {
    while (net.sending()) {
      if (!net.progress(until))
        time_out(operation, "to", net.rank(), outgoing_.front().peer, outgoing_.front().head.tag);
    }
  }

  template <Transport Net>
  void fill(Net& net, memory_sink in, const envelope& wanted, int peer, deadline until) {
    net.receive(peer, in);
    while (in.remaining() > 0) {
      if (!net.progress(until)) time_out("recv", "from", net.rank(), peer, wanted.tag);
    }
  }

  /// The same into memory of the host: from another device bytes come by way of this one.
  template <Transport Net>
  void fill_on_host(Net& net, std::span<std::byte> data, const envelope& wanted, int peer, deadline until) {
    copy_engine* const copies = copies_of(net);
    if (copies == nullptr) return fill(net, memory_sink(data), wanted, peer, until);
    const std::span<std::byte> room(copies->device_room(data.size()), data.size());
    fill(net, memory_sink(room, copies), wanted, peer, until);
    copy_by(copies, data.data(), room, copy_direction::device_to_host);
  }

  [[noreturn]] static void time_out(std::string_view operation, std::string_view direction, int self,
                                    int peer, std::int64_t tag) {
    throw error(
        errc::timeout,
        concat("rank ", self, ": ", operation, ' ', direction, " rank ", peer, ", tag ", tag, ": timed out"),
        peer);
  }

  static void check(const envelope& there, const envelope& here, std::size_t room, int self, int peer) {
    const auto fail = [&](std::string_view what, std::uint64_t theirs, std::uint64_t ours) {
      throw error(errc::mismatch,
                  concat("rank ", self, ": recv from rank ", peer, ", tag ", here.tag, ": ", what, ": sent ",
                         theirs, ", expected ", ours),
                  peer);
    };
    if (there.element_bytes != here.element_bytes)
      fail("element size in bytes", there.element_bytes, here.element_bytes);
    if (there.element != here.element) fail("element type, digest of its name", there.element, here.element);
    if (there.bytes > room) {
      fail("a message longer than the buffer, in elements", there.bytes / there.element_bytes,
           room / here.element_bytes);
    }
  }

  void check_room(std::size_t bytes, int self, int peer, std::int64_t tag) const {
    if (bytes <= capacity - held_bytes_) return;
    throw error(errc::out_of_memory,
                concat("rank ", self, ": a message of ", bytes, " bytes from rank ", peer, " under tag ", tag,
                       ", which nobody has asked for, exceeds the ", capacity, " bytes that are held; ",
                       held_bytes_, " are"),
                peer);
  }

  /// Holds a message of this rank to itself.
  template <Transport Net>
  void keep(Net& net, const envelope& head, std::span<const std::byte> data) {
    check_room(data.size(), net.rank(), net.rank(), head.tag);
    std::vector<std::byte> copy(data.size());
    copy_by(copies_of(net), copy.data(), data, copy_direction::device_to_host);
    hold(net.rank(), head, std::move(copy), net.rank());
  }

  void hold(int peer, const envelope& head, std::vector<std::byte> data, int self) {
    check_room(data.size(), self, peer, head.tag);
    held_bytes_ += data.size();
    held_.push_back({peer, head, std::move(data)});
  }

  std::vector<outgoing> outgoing_;  // does not grow while a transport reads it
  std::deque<message> held_;
  std::size_t held_bytes_ = 0;
};

}  // namespace hccl::inline v0::detail
