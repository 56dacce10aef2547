// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a collective in memory that all ranks reach, see `Direct`.

#include <hccl/algorithm/direct.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/core/detail/cores.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/engine/scratch.hpp>
#include <hccl/engine/stream_copy.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace hccl::inline v0::detail {

/// Whether `Direct` does a collective on a transport.
template <class Net, class C>
concept RunsDirectly = SharedAddressTransport<Net> && DoneDirectly<C>;

/// Fails to compile, with a sentence, if A is `Direct` and the transport is not for it.
template <class A, class Net>
consteval bool check_reach() {
  static_assert(!std::same_as<A, Direct> || SharedAddressTransport<Net>,
                "hccl: Direct works in the memory of other ranks, which this transport does not reach");
  return true;
}

/// Runs one collective after another, and keeps what memory that takes.
class direct_engine {
 public:
  /// Up to so many bytes an input always travels in the note: a second wait takes longer than to read all inputs.
  static constexpr std::size_t small_bytes = std::size_t{2} << 10;

  /// So many bytes of inputs at most travel in all notes together.
  static constexpr std::size_t noted_bytes = std::size_t{128} << 10;

  /// Runs `c` on this rank, with shares of equal size. Returns false, on all ranks, if one has memory that the others
  /// do not reach, and nothing has been done. Throws as `engine::run`.
  template <SharedAddressTransport Net, DoneDirectly C>
  bool run(Net& net, const C& c, const call& what, const operands& user, const combiner& combine,
           deadline until) {
    plan_ = {&what, user.scratch, combine, C::input, C::output, root_of(c), net.rank(), net.size()};
    plan_.streams = bytes({0, plan_.shares.size()}) >= streamed_bytes;
    inputs_.resize(static_cast<std::size_t>(plan_.ranks));
    outputs_.resize(static_cast<std::size_t>(plan_.ranks));
    at(outputs_, plan_.self) = const_cast<std::byte*>(user.output.data);

    const std::size_t most = bytes(held(C::input, plan_.root));  // that a rank puts in
    const message_header header(what, most);
    const std::span input(user.input.data, bytes(held(C::input, plan_.self)));
    plan_.is_apart = most <= small_bytes;
    if (plan_.is_apart) {
      post(net, until, std::as_bytes(std::span(&header, 1)), input);
      read_notes(net, header, [&](int rank, const std::byte* told) { at(inputs_, rank) = told; });
    } else {
      const std::size_t room = std::min<std::size_t>(Net::note_bytes - sizeof header - sizeof(places<Net>),
                                                     noted_bytes / static_cast<std::size_t>(plan_.ranks));
      places<Net> here(net, input, {user.output.data, bytes(held(C::output, plan_.self))});
      here.has_input = most <= (here.are_reachable && plan_.ranks <= cores() ? 0 : room);
      post(net, until, std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(&here, 1)),
           here.has_input ? input : std::span<const std::byte>());
      if (!read_places(net, header)) return false;
    }
    at(inputs_, plan_.self) = input.data();
    if (plan_.is_apart) {
      pass(c, [] { return 0; });
      return true;
    }
    pass(c, [&] { return net.visit(); });
    post(net, until, std::as_bytes(std::span(&header, 1)));  // nobody returns while others work in its memory
    return true;
  }

 private:
  struct plan {
    const call* what = nullptr;
    division shares{};
    combiner combine{};
    portion input{}, output{};
    int root = 0, self = 0, ranks = 1;
    bool streams = false;   // so much is written that it does not stay in a cache
    bool is_apart = false;  // every rank makes its output by itself, of inputs that came with the notes
  };

  /// What a rank tells of its buffers.
  template <class Net>
  struct places {
    places() = default;
    places(Net& net, std::span<const std::byte> in, std::span<const std::byte> out) {
      const auto found_input = net.locate(in), found_output = net.locate(out);
      are_reachable = found_input && found_output;
      if (are_reachable) input = *found_input, output = *found_output;
    }

    typename Net::location input{}, output{};
    bool are_reachable = false;
    bool has_input = false;  // which follows in the note
  };

  static auto at(auto& list, int rank) -> decltype(list[0]) { return list[static_cast<std::size_t>(rank)]; }

  /// Posts a note of several parts and waits for those of all ranks.
  template <SharedAddressTransport Net, class... Parts>
  void post(Net& net, deadline until, const Parts&... parts) {
    const std::array<std::span<const std::byte>, sizeof...(Parts)> note{parts...};
    net.post(note);
    if (net.await_posts(until)) return;
    late_ranks late;
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      if (!net.has_posted(rank)) late.add(rank);
    }
    throw error(errc::timeout,
                concat("rank ", plan_.self, ": ", plan_.what->text(), ": timed out", late.text), late.first);
  }

  /// Calls `f` with each rank and what it tells. Throws `mismatch`.
  template <SharedAddressTransport Net>
  void read_notes(Net& net, const message_header& own, auto&& f) const {
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const auto note = net.note(rank);
      message_header theirs;
      std::memcpy(&theirs, note.data(), sizeof theirs);
      if (rank != plan_.self) check_agreement(theirs, *plan_.what, own.bytes, plan_.self, rank);
      f(rank, note.data() + sizeof theirs);
    }
  }

  /// Goes by what all have told: the inputs in their notes, if all have put theirs there, else their memory. Returns
  /// false if that is not to be reached.
  template <SharedAddressTransport Net>
  bool read_places(Net& net, const message_header& own) {
    bool are_reachable = true, have_inputs = true;
    const auto each = [&](auto&& f) {
      read_notes(net, own, [&](int rank, const std::byte* told) {
        places<Net> there;
        std::memcpy(&there, told, sizeof there);
        f(rank, there, told + sizeof there);
      });
    };
    each([&](int, const places<Net>& there, const std::byte*) {
      are_reachable &= there.are_reachable;
      have_inputs &= there.has_input;
    });
    plan_.is_apart = have_inputs;
    if (!have_inputs && !are_reachable) return false;
    each([&](int rank, const places<Net>& there, const std::byte* input) {
      if (rank == plan_.self) return;
      at(inputs_, rank) = have_inputs ? input : net.reach(rank, there.input);
      if (!have_inputs) at(outputs_, rank) = net.reach(rank, there.output);
    });
    return true;
  }

  /// Does this rank's part. `enter()` keeps others waiting who come out of an abort, and throws after one: it is called
  /// for each piece, so that they wait no longer than that takes.
  void pass(const AllReduce&, auto&& enter) { combine(own_part(), targets(), enter); }
  void pass(const Reduce&, auto&& enter) { combine(own_part(), targets(), enter); }
  void pass(const ReduceScatter&, auto&& enter) { combine(share(plan_.self), {&plan_.self, 1}, enter); }

  void pass(const Broadcast&, auto&& enter) {
    const extent part = own_part();
    for (const int rank : targets()) copy(in(plan_.root, part), out(rank, part), part, enter);
  }

  void pass(const AllGather&, auto&& enter) {
    for (int rank = 0; rank < plan_.ranks; ++rank)
      copy(in(rank, share(rank)), out(plan_.self, share(rank)), share(rank), enter);
  }

  void pass(const AllToAll&, auto&& enter) {
    for (int rank = 0; rank < plan_.ranks; ++rank)
      copy(in(rank, share(plan_.self)), out(plan_.self, share(rank)), share(rank), enter);
  }

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
  void combine(extent part, std::span<const int> to, auto&& enter) {
    if (to.empty()) return;
    piece_.reserve(std::max(piece_bytes, plan_.what->element_bytes));
    const std::size_t most = std::max<std::size_t>(piece_bytes / plan_.what->element_bytes, 1);
    for (extent piece{part.offset, 0}; piece.offset < part.offset + part.count; piece.offset += piece.count) {
      [[maybe_unused]] const auto visit = enter();
      piece.count = std::min(most, part.offset + part.count - piece.offset);
      const std::byte* so_far = in(0, piece);
      if (plan_.is_apart && plan_.self != 0) {  // of any alignment
        copy_bytes(piece_.data(), so_far, bytes(piece));
        so_far = piece_.data();
      }
      for (int rank = 1; rank < plan_.ranks; ++rank) {
        const bool is_last = rank == plan_.ranks - 1 && !plan_.streams;
        std::byte* const next = is_last ? out(to.front(), piece) : piece_.data();
        plan_.combine(action::reduce, next, so_far, in(rank, piece), piece.count);
        so_far = next;
      }
      for (const int rank : to.subspan(plan_.streams ? 0 : 1)) write(out(rank, piece), so_far, bytes(piece));
    }
  }

  void copy(const std::byte* from, std::byte* to, extent e, auto&& enter) const {
    if (from == to) return;
    for (std::size_t done = 0; done < bytes(e); done += copied_bytes) {
      [[maybe_unused]] const auto visit = enter();
      write(to + done, from + done, std::min(copied_bytes, bytes(e) - done));
    }
  }

  void write(std::byte* to, const std::byte* from, std::size_t size) const {
    plan_.streams ? stream_copy(to, from, size) : copy_bytes(to, from, size);
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
  static constexpr std::size_t streamed_bytes = std::size_t{16} << 20;
  static constexpr std::size_t copied_bytes = std::size_t{1} << 20;

  plan plan_;
  scratch_memory<> piece_;
  std::vector<const std::byte*> inputs_;  // by rank
  std::vector<std::byte*> outputs_;
  std::vector<int> targets_;
};

}  // namespace hccl::inline v0::detail
