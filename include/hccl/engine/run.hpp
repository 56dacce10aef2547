// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine: runs the rounds of a schedule over a transport.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/block_sink.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/copies.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/host_allocator.hpp>
#include <hccl/schedule/view.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// Memory and what it holds of a buffer that is divided.
struct area {
  const std::byte* data = nullptr;
  division parts{};
  std::size_t origin = 0;  // the element of the whole buffer with which it begins
};

/// The buffers of a call, and how scratch is divided.
struct operands {
  area input, output;
  division scratch;

  /// Tells whether all buffers are divided in the same way, into shares of equal size.
  bool has_equal_shares() const { return input.parts.is_regular() && output.parts.is_regular(); }
};

/// Runs one schedule after another over a transport, and keeps what memory that takes, of the kind that the buffers are
/// of.
template <DeviceAllocator Memory = HostAllocator>
class engine {
 public:
  /// Runs `schedule` on this rank.
  /// Throws `timeout`, `peer_lost`, `aborted` or `mismatch`, or what the reduction throws; the outputs are
  /// then unspecified.
  template <Transport Net>
  void run(Net& net, const schedule_view& schedule, const call& c, const operands& user,
           const combiner& combine, deadline until) {
    const auto lay_out = [&](const division& parts) { return layout(parts, schedule.blocks()); };
    plan_ = {&schedule, &c,
             &user,     {lay_out(user.input.parts), lay_out(user.output.parts), lay_out(user.scratch)},
             combine,   copies_of(net),
             net.rank()};
    for (int round = 0; round < schedule.rounds(); ++round) {
      gather(round);
      play(net, round, until);
    }
  }

 private:
  struct plan {
    const schedule_view* schedule = nullptr;
    const call* what = nullptr;
    const operands* user = nullptr;
    std::array<layout, 3> layouts;  // by place
    combiner combine;
    copy_engine* copies = nullptr;
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
  void gather(int round) {
    sends_.clear();
    arrivals_.clear();
    headers_.clear();
    pieces_.clear();
    targets_.clear();
    sinks_.clear();
    plan_.schedule->steps(plan_.self, round, [&](const step& s) {
      if (s.from == place::scratch || s.to == place::scratch)
        scratch_.reserve(plan_.user->scratch.size() * plan_.what->element_bytes);
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
                          a.bytes, cut_elements_.data() + sinks_.size() * element, plan_.combine,
                          plan_.copies, *plan_.what, plan_.self);
    }
  }

  void add_send(const step& s) {
    const std::size_t first = pieces_.size();
    if (s.peer != plan_.self) {
      headers_.emplace_back(*plan_.what, layout_of(s.from).size(s.blocks) * plan_.what->element_bytes);
      pieces_.emplace_back();  // the header, once headers_ is complete
    }
    layout_of(s.from).for_each_extent(s.blocks,
                                      [&](extent e) { pieces_.emplace_back(read(s.from, e), bytes(e)); });
    sends_.push_back({s, first, pieces_.size() - first});
  }

  void add_arrival(const step& s) {
    const std::size_t first = targets_.size();
    std::size_t sum = 0;
    const auto add = [&](extent to, extent from) {
      std::byte* const begin = const_cast<std::byte*>(read(s.to, to));
      targets_.push_back({begin, s.what == action::receive ? begin : read(s.from, from), bytes(to)});
      sum += bytes(to);
    };
    if (s.what == action::receive || s.from == s.to || plan_.user->scratch.is_regular()) {
      layout_of(s.to).for_each_extent(s.blocks, [&](extent e) { add(e, e); });
    } else {  // blocks that are adjacent in one place need not be so in the other
      for (int k = 0; k < s.blocks.count; ++k) {
        const int block = s.blocks.at(k, plan_.schedule->blocks());
        const extent to = layout_of(s.to).block(block);
        if (to.count > 0) add(to, layout_of(s.from).block(block));
      }
    }
    arrivals_.push_back({s, first, targets_.size() - first, sum});
  }

  std::size_t bytes(extent e) const { return e.count * plan_.what->element_bytes; }

  const layout& layout_of(place where) const { return plan_.layouts[static_cast<std::size_t>(where)]; }

  /// The address of an extent in a place of this rank.
  const std::byte* read(place where, extent e) const {
    const auto in = [&](const area& a) { return a.data + (e.offset - a.origin) * plan_.what->element_bytes; };
    switch (where) {
      case place::input:
        return in(plan_.user->input);
      case place::output:
        return in(plan_.user->output);
      case place::scratch:
        return scratch_.data() + e.offset * plan_.what->element_bytes;
    }
    return nullptr;
  }

  template <Transport Net>
  void play(Net& net, int round, deadline until) {
    for (const outgoing& o : sends_) {
      if (o.what.peer != plan_.self) net.send(o.what.peer, message(o));
    }
    begun_ = 0;
    while (true) {
      while (begun_ < sinks_.size() && may_begin(begun_)) begin(net, sinks_[begun_++]);
      if (begun_ == sinks_.size() && all_arrived() && !net.sending()) return;
      if (!net.progress(until)) throw timed_out(round);
    }
  }

  pieces message(const outgoing& o) const { return pieces(pieces_).subspan(o.first_piece, o.pieces); }

  /// An arrival waits for those before it that share a block with it.
  bool may_begin(std::size_t k) const {
    return std::all_of(
        sinks_.begin(), sinks_.begin() + static_cast<std::ptrdiff_t>(k), [&](const block_sink& earlier) {
          return earlier.remaining() == 0 ||
                 !intersect(earlier.what().blocks, sinks_[k].what().blocks, plan_.schedule->blocks());
        });
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

  /// The error of a round that is not complete: it names the ranks whose message has not come, or, if all have, those
  /// that may not have taken what was sent.
  error timed_out(int round) const {
    late_ranks late;
    const bool complete = all_arrived();
    for (const block_sink& s : std::span(sinks_).first(begun_)) {  // the others wait for one of them
      if (s.remaining() > 0) late.add(s.what().peer);
    }
    for (const outgoing& o : sends_) {
      if (complete && o.what.peer != plan_.self) late.add(o.what.peer);
    }
    const bool is_known = !complete || late.count == 1;
    return error(
        errc::timeout,
        concat("rank ", plan_.self, ": ", plan_.what->text(), ": timed out in round ", round + 1, " of ",
               plan_.schedule->rounds(), late.text, complete ? " to take what was sent" : ""),
        is_known ? late.first : no_rank);
  }

  plan plan_;
  scratch_memory<Memory> scratch_;
  std::vector<outgoing> sends_;
  std::vector<incoming> arrivals_;
  std::vector<message_header> headers_;
  std::vector<std::span<const std::byte>> pieces_;
  std::vector<target> targets_;
  std::vector<block_sink> sinks_;
  std::size_t begun_ = 0;                // of them
  std::vector<std::byte> cut_elements_;  // one a sink
};

}  // namespace hccl::inline v0::detail
