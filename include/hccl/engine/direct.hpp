// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a collective in memory that all ranks reach, see `Direct`.

#include <hccl/algorithm/direct.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/engine/scratch.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace hccl::inline v0::detail {

/// Whether `Direct` does a collective on a transport.
template <class Net, class C>
concept RunsDirectly = SharedAddressTransport<Net> && DoneDirectly<C>;

/// Runs one collective after another, and keeps what memory that takes.
class direct_engine {
 public:
  /// Runs `c` on this rank, with shares of equal size. Throws as `engine::run`.
  template <SharedAddressTransport Net, DoneDirectly C>
  void run(Net& net, const C& c, const call& what, const operands& user, const combiner& combine,
           deadline until) {
    plan_ = {&what, user.scratch, combine, C::input, C::output, root_of(c), net.rank(), net.size()};
    const std::size_t most = bytes(held(C::input, plan_.root));  // that a rank puts in
    plan_.is_apart = most <= Net::note_bytes - sizeof(message_header);

    const message_header header(what, most);
    const addresses here{user.input.data, const_cast<std::byte*>(user.output.data)};
    post(net, header,
         plan_.is_apart ? std::span(here.input, bytes(held(C::input, plan_.self)))
                        : std::as_bytes(std::span(&here, 1)),
         until);
    read_notes(net, most);
    at(outputs_, plan_.self) = here.output;

    if (plan_.is_apart) return pass(c);
    {
      const auto visit = net.visit();
      pass(c);
    }
    post(net, header, {}, until);  // nobody returns while others work in its memory
  }

 private:
  struct plan {
    const call* what = nullptr;
    division shares{};
    combiner combine{};
    portion input{}, output{};
    int root = 0, self = 0, ranks = 1;
    bool is_apart = false;  // every rank makes its output by itself, of inputs that came with the notes
  };

  struct addresses {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
  };

  static auto at(auto& list, int rank) -> decltype(list[0]) { return list[static_cast<std::size_t>(rank)]; }

  /// Posts a note and waits for those of all ranks.
  template <SharedAddressTransport Net>
  void post(Net& net, const message_header& header, std::span<const std::byte> told, deadline until) {
    const std::array<std::span<const std::byte>, 2> note{std::as_bytes(std::span(&header, 1)), told};
    net.post(note);
    if (net.await_posts(until)) return;
    late_ranks late;
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      if (!net.has_posted(rank)) late.add(rank);
    }
    throw error(errc::timeout,
                concat("rank ", plan_.self, ": ", plan_.what->text(), ": timed out", late.text), late.first);
  }

  /// Reads who has what where. Throws `mismatch`.
  template <SharedAddressTransport Net>
  void read_notes(Net& net, std::size_t most) {
    inputs_.resize(static_cast<std::size_t>(plan_.ranks));
    outputs_.resize(static_cast<std::size_t>(plan_.ranks));
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const auto note = net.note(rank);
      message_header theirs;
      std::memcpy(&theirs, note.data(), sizeof theirs);
      if (rank != plan_.self) check_agreement(theirs, *plan_.what, most, plan_.self, rank);
      const std::byte* const told = note.data() + sizeof theirs;
      addresses there{told, nullptr};
      if (!plan_.is_apart) {
        std::memcpy(&there, told, sizeof there);
        there = {net.reach(rank, const_cast<std::byte*>(there.input)), net.reach(rank, there.output)};
      }
      at(inputs_, rank) = there.input;
      at(outputs_, rank) = there.output;
    }
  }

  void pass(const AllReduce&) { combine_part(); }
  void pass(const Reduce&) { combine_part(); }
  void pass(const ReduceScatter&) { combine(share(plan_.self), {&plan_.self, 1}); }

  void pass(const Broadcast&) {
    const extent part = own_part();
    for (const int rank : targets()) copy(in(plan_.root, part), out(rank, part), part);
  }

  void pass(const AllGather&) {
    for (int rank = 0; rank < plan_.ranks; ++rank)
      copy(in(rank, share(rank)), out(plan_.self, share(rank)), share(rank));
  }

  void pass(const AllToAll&) {
    for (int rank = 0; rank < plan_.ranks; ++rank)
      copy(in(rank, share(plan_.self)), out(plan_.self, share(rank)), share(rank));
  }

  void combine_part() { combine(own_part(), targets()); }

  /// What this rank does of a whole buffer.
  extent own_part() const {
    const std::size_t count = plan_.shares.size();
    if (plan_.is_apart) return {0, count};
    return partition(count, static_cast<std::size_t>(plan_.ranks), static_cast<std::size_t>(plan_.self));
  }

  /// The ranks that get it: this one first, if it is one of them.
  std::span<const int> targets() {
    targets_.clear();
    for (int k = 0; k < (plan_.is_apart ? 1 : plan_.ranks); ++k) {
      const int rank = (plan_.self + k) % plan_.ranks;
      if (held(plan_.output, rank).count > 0) targets_.push_back(rank);
    }
    return targets_;
  }

  /// Combines a part of all inputs in rank order, into the outputs of `to`, piece by piece: a piece stays in the cache
  /// until it is written. An output may be the input of its rank: it is written last.
  void combine(extent part, std::span<const int> to) {
    if (to.empty()) return;
    piece_.reserve(std::max(piece_bytes, plan_.what->element_bytes));
    const std::size_t most = std::max<std::size_t>(piece_bytes / plan_.what->element_bytes, 1);
    for (extent piece{part.offset, 0}; piece.offset < part.offset + part.count; piece.offset += piece.count) {
      piece.count = std::min(most, part.offset + part.count - piece.offset);
      const std::byte* so_far = in(0, piece);
      if (plan_.is_apart)
        so_far = static_cast<std::byte*>(std::memcpy(piece_.data(), so_far, bytes(piece)));  // aligned
      for (int rank = 1; rank < plan_.ranks; ++rank) {
        std::byte* const next = rank == plan_.ranks - 1 ? out(to.front(), piece) : piece_.data();
        plan_.combine(action::reduce, next, so_far, in(rank, piece), piece.count);
        so_far = next;
      }
      for (const int rank : to.subspan(1)) std::memcpy(out(rank, piece), so_far, bytes(piece));
    }
  }

  void copy(const std::byte* from, std::byte* to, extent e) const {
    if (from != to && e.count > 0) std::memcpy(to, from, bytes(e));
  }

  extent share(int rank) const { return plan_.shares.share(static_cast<std::size_t>(rank)); }

  /// What a rank holds.
  extent held(portion what, int rank) const {
    if (what == portion::share) return share(rank);
    return what == portion::all || rank == plan_.root ? extent{0, plan_.shares.size()} : extent{};
  }

  std::size_t bytes(extent e) const { return e.count * plan_.what->element_bytes; }

  /// Where a rank has elements of its input and of its output.
  const std::byte* in(int rank, extent e) const {
    return at(inputs_, rank) + (e.offset - held(plan_.input, rank).offset) * plan_.what->element_bytes;
  }
  std::byte* out(int rank, extent e) const {
    return at(outputs_, rank) + (e.offset - held(plan_.output, rank).offset) * plan_.what->element_bytes;
  }

  static constexpr std::size_t piece_bytes = std::size_t{16} << 10;

  plan plan_;
  scratch piece_;
  std::vector<const std::byte*> inputs_;  // by rank
  std::vector<std::byte*> outputs_;
  std::vector<int> targets_;
};

}  // namespace hccl::inline v0::detail
