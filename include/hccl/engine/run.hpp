// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine: runs the rounds of a schedule over a transport.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/block_sink.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/engine/scratch.hpp>
#include <hccl/schedule/view.hpp>
#include <hccl/transport/concept.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// The buffers of a call. A buffer that holds only this rank's share begins with it.
struct buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  bool input_is_share = false;
  bool output_is_share = false;
};

/// Runs one schedule after another over a transport, and keeps what memory that takes.
class engine {
 public:
  /// Runs `schedule` on this rank. `count` is the number of elements of a buffer of all blocks.
  /// Throws `timeout`, `peer_lost`, `aborted` or `mismatch`, or what the reduction throws; the outputs are
  /// then unspecified.
  template <Transport Net>
  void run(Net& net, const schedule_view& schedule, const call& c, const buffers& user, std::size_t count,
           const combiner& combine, deadline until) {
    plan_ = {&schedule, layout(schedule, count), &c, user, combine, net.rank()};
    for (int round = 0; round < schedule.rounds(); ++round) {
      gather(round, count);
      play(net, round, until);
    }
  }

 private:
  struct plan {
    const schedule_view* schedule = nullptr;
    layout where;
    const call* what = nullptr;
    buffers user;
    combiner combine;
    int self = 0;
  };

  struct outgoing {
    step what;
    std::size_t first_piece;
    std::size_t pieces;
    bool taken = false;
  };

  struct incoming {
    step what;
    std::size_t first_target;
    std::size_t targets;
    std::size_t bytes;
  };

  /// Collects the steps of a round. Nothing is sent before all are known, so that no vector moves under a
  /// transport.
  void gather(int round, std::size_t count) {
    sends_.clear();
    arrivals_.clear();
    headers_.clear();
    pieces_.clear();
    targets_.clear();
    sinks_.clear();
    plan_.schedule->steps(plan_.self, round, [&](const step& s) {
      if (s.from == place::scratch || s.to == place::scratch)
        scratch_.reserve(count * plan_.what->element_bytes);
      s.what == action::send ? add_send(s) : add_arrival(s);
    });
    std::size_t header = 0;
    for (const outgoing& o : sends_) {
      if (o.what.peer != plan_.self)
        pieces_[o.first_piece] = std::as_bytes(std::span(&headers_[header++], 1));
    }
    const std::size_t element = plan_.what->element_bytes;
    cut_elements_.resize(arrivals_.size() * element);
    sinks_.reserve(arrivals_.size());
    for (const incoming& a : arrivals_) {
      sinks_.emplace_back(a.what, std::span<const target>(targets_).subspan(a.first_target, a.targets),
                          a.bytes, cut_elements_.data() + sinks_.size() * element, plan_.combine, *plan_.what,
                          plan_.self);
    }
  }

  void add_send(const step& s) {
    const std::size_t first = pieces_.size();
    if (s.peer != plan_.self) {
      headers_.emplace_back(*plan_.what, plan_.where.size(s.blocks) * plan_.what->element_bytes);
      pieces_.emplace_back();  // the header, once headers_ is complete
    }
    plan_.where.for_each_extent(s.blocks, [&](extent e) { pieces_.emplace_back(read(s.from, e), bytes(e)); });
    sends_.push_back({s, first, pieces_.size() - first});
  }

  void add_arrival(const step& s) {
    const std::size_t first = targets_.size();
    std::size_t sum = 0;
    plan_.where.for_each_extent(s.blocks, [&](extent e) {
      std::byte* to = const_cast<std::byte*>(read(s.to, e));
      targets_.push_back({to, s.what == action::receive ? to : read(s.from, e), bytes(e)});
      sum += bytes(e);
    });
    arrivals_.push_back({s, first, targets_.size() - first, sum});
  }

  std::size_t bytes(extent e) const { return e.count * plan_.what->element_bytes; }

  /// The address of an extent in a place of this rank.
  const std::byte* read(place where, extent e) const {
    const auto share = [&](bool is_share) {
      return is_share
                 ? plan_.where
                       .block(
                           owned_blocks(plan_.self, plan_.schedule->blocks(), plan_.schedule->ranks()).first)
                       .offset
                 : std::size_t{0};
    };
    const std::size_t size = plan_.what->element_bytes;
    switch (where) {
      case place::input:
        return plan_.user.input + (e.offset - share(plan_.user.input_is_share)) * size;
      case place::output:
        return plan_.user.output + (e.offset - share(plan_.user.output_is_share)) * size;
      case place::scratch:
        return scratch_.data() + e.offset * size;
    }
    return nullptr;
  }

  template <Transport Net>
  void play(Net& net, int round, deadline until) {
    for (const outgoing& o : sends_) {
      if (o.what.peer != plan_.self) net.send(o.what.peer, message(o));
    }
    std::size_t begun = 0;
    while (true) {
      while (begun < sinks_.size() && may_begin(begun)) begin(net, sinks_[begun++]);
      if (begun == sinks_.size() && all_arrived() && !net.sending()) return;
      if (!net.progress(until)) throw error(errc::timeout, describe_wait(net, round), late_rank());
    }
  }

  pieces message(const outgoing& o) const { return pieces(pieces_).subspan(o.first_piece, o.pieces); }

  /// An arrival waits for the one before it if they share a block.
  bool may_begin(std::size_t k) const {
    if (k == 0 || sinks_[k - 1].remaining() == 0) return true;
    return !intersect(sinks_[k - 1].what().blocks, sinks_[k].what().blocks, plan_.schedule->blocks());
  }

  template <Transport Net>
  void begin(Net& net, block_sink& arrival) {
    if (arrival.what().peer != plan_.self) return net.receive(arrival.what().peer, arrival);
    for (outgoing& o : sends_) {  // a message to oneself: the first that is left
      if (o.what.peer != plan_.self || o.taken) continue;
      o.taken = true;
      for (const auto piece : message(o)) arrival.consume(piece);
      return;
    }
  }

  bool all_arrived() const {
    for (const block_sink& s : sinks_) {
      if (s.remaining() > 0) return false;
    }
    return true;
  }

  int late_rank() const {
    for (const block_sink& s : sinks_) {
      if (s.remaining() > 0) return s.what().peer;
    }
    return no_rank;
  }

  template <Transport Net>
  std::string describe_wait(const Net& net, int round) const {
    std::string text = concat("rank ", plan_.self, ": ", plan_.what->text(), ": timed out in round ",
                              round + 1, " of ", plan_.schedule->rounds());
    std::string_view separator = ", waiting for rank ";
    for (const block_sink& s : sinks_) {
      if (s.remaining() == 0) continue;
      append(text, separator);
      append(text, s.what().peer);
      separator = ", ";
    }
    if (net.sending()) text += all_arrived() ? ", waiting for peers to take what was sent" : "";
    return text;
  }

  plan plan_;
  scratch scratch_;
  std::vector<outgoing> sends_;
  std::vector<incoming> arrivals_;
  std::vector<message_header> headers_;
  std::vector<std::span<const std::byte>> pieces_;
  std::vector<target> targets_;
  std::vector<block_sink> sinks_;
  std::vector<std::byte> cut_elements_;  // one a sink
};

}  // namespace hccl::inline v0::detail
