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
#include <hccl/engine/direct_plan.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/engine/staged_call.hpp>
#include <hccl/engine/windows.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
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

/// Runs one collective after another, and keeps what memory that takes. Memory is such as all ranks reach.
template <class Memory>
class direct_engine {
 public:
  /// Up to so many bytes an input always travels in the note: a second wait takes longer than to read all inputs.
  static constexpr std::size_t small_bytes = std::size_t{2} << 10;

  /// So many bytes of inputs at most travel in all notes together.
  static constexpr std::size_t noted_bytes = std::size_t{128} << 10;

  /// Runs `c` on this rank, with shares of equal size. Where a rank has memory that the others do not reach, the call
  /// goes through windows; if there are none, or not `through_windows`, nothing is done then, and this returns false on
  /// all ranks. Throws as `engine::run`.
  template <SharedAddressTransport Net, DoneDirectly C>
  bool run(Net& net, const C& c, const call& what, const operands& user, const combiner& combine,
           bool through_windows, late_deadline& until) {
    through_windows &= SharedMemoryTransport<Net>;
    plan_ = {&what, user.scratch, combine, C::input, C::output, root_of(c), net.rank(), net.size()};
    inputs_.resize(static_cast<std::size_t>(plan_.ranks));
    outputs_.resize(static_cast<std::size_t>(plan_.ranks));
    at(inputs_, plan_.self) = user.input.data;
    at(outputs_, plan_.self) = const_cast<std::byte*>(user.output.data);

    const std::size_t most = plan_.bytes(plan_.held(C::input, plan_.root));  // that a rank puts in
    const message_header header(what, most);
    const std::span input(user.input.data, plan_.bytes(plan_.held(C::input, plan_.self)));
    is_apart_ = most <= small_bytes;
    if (is_apart_) {
      const giver from =
          std::same_as<C, Reduce> && plan_.self != plan_.root ? giver(plan_.self) : giver_of(c);
      post(net, header, until, input);
      await(net, from, until);
      read_notes(net, from, [&](int rank, const std::byte* told) { set_noted(rank, told); });
      pass(c, freely);
      return true;
    }
    const std::span output(user.output.data, plan_.bytes(plan_.held(C::output, plan_.self)));
    const staged_call staged(plan_, windows_, at(inputs_, plan_.self), at(outputs_, plan_.self), pieces_);
    for (bool are_new = false;; are_new = true) {
      places<Net> here(net, input, output);
      here.has_input = most <= room_for_input<Net>(here.are_reachable, through_windows);
      const bool are_open = through_windows && windows_.fit(plan_);
      if (are_open) here.window = *net.locate(windows_.own());
      // Windows that are new have to be found by all before anybody leaves: there is a meeting more.
      here.has_put = are_open && !are_new && !here.are_reachable && !here.has_input;
      if (here.has_put) staged.put_first();
      post(net, header, until, std::as_bytes(std::span(&here, 1)),
           here.has_input ? input : std::span<const std::byte>());
      // All find that in this note, and this rank need not wait for theirs.
      if (!through_windows && !here.are_reachable && !here.has_input) return false;
      await(net, giver_of(c), until);
      ways all = read_places(net, giver_of(c));
      if (giver_of(c) && !all.has_input) {
        await(net, {}, until);
        all = read_places(net, {});
      }
      is_apart_ = all.has_input;
      if (all.has_input) {
        pass(c, freely);
      } else if (all.are_reachable) {
        pass(c, [&] { return net.visit(); });
        meet(net, header, until);  // nobody returns while others work in its memory
      } else if (are_open) {
        staged.run(c, all.has_put, [&] { meet(net, header, until); });
      } else if (through_windows) {
        windows_.open(plan_);
        continue;  // and tell all of it
      } else {
        return false;
      }
      return true;
    }
  }

 private:
  /// The ways in which others come to the input of a rank.
  struct ways {
    bool are_reachable = true;  // input and output
    bool has_input = true;      // which is in the note
    bool has_put = true;        // the first chunk, into the window
  };

  /// What a rank tells of its buffers.
  template <class Net>
  struct places : ways {
    places() = default;
    places(Net& net, std::span<const std::byte> in, std::span<const std::byte> out) {
      const auto found_input = net.locate(in), found_output = net.locate(out);
      this->are_reachable = found_input && found_output;
      if (this->are_reachable) input = *found_input, output = *found_output;
    }

    typename Net::location input{}, output{}, window{};
  };

  static auto at(auto& list, int rank) -> decltype(list[0]) { return list[static_cast<std::size_t>(rank)]; }

  /// The most bytes of input that this rank puts into a note. Where each rank has a core of its own, to wait is
  /// cheap: then it is better to work in memory that is reached, and to send messages of which each rank gets a part
  /// only.
  template <class Net>
  std::size_t room_for_input(bool are_reachable, bool through_windows) const {
    if (plan_.ranks <= cores()) {
      if (are_reachable) return 0;
      if (!through_windows) return plan_.output == portion::all ? 4 * small_bytes : 0;
    }
    return std::min<std::size_t>(Net::note_bytes - sizeof(message_header) - sizeof(places<Net>),
                                 noted_bytes / static_cast<std::size_t>(plan_.ranks));
  }

  /// The one rank whose note tells a rank all that it needs; none: it needs those of all.
  using giver = std::optional<int>;

  template <class C>
  static giver giver_of(const C& c) {
    return std::same_as<C, Broadcast> ? giver(root_of(c)) : giver();
  }

  /// Posts a note of several parts, once all have posted the one before.
  template <SharedAddressTransport Net, class... Parts>
  void post(Net& net, const message_header& header, late_deadline& until, const Parts&... parts) {
    if (is_behind_) catch_up(net, until);
    const std::array<std::span<const std::byte>, 1 + sizeof...(Parts)> note{
        std::as_bytes(std::span(&header, 1)), parts...};
    net.post(note);
    is_behind_ = true;
    posted_ = *plan_.what;
  }

  /// Waits for the notes that a call before has not needed, and looks whether their ranks made the same call.
  template <SharedAddressTransport Net>
  void catch_up(Net& net, late_deadline& until) {
    await(net, {}, until);
    read_notes(net, {}, [](int, const std::byte*) {});
  }

  /// Waits for the note of a rank, or those of all.
  template <SharedAddressTransport Net>
  void await(Net& net, giver from, late_deadline& until) {
    if (from ? net.await_post(*from, until.get()) : net.await_posts(until.get())) {
      is_behind_ = from.has_value();
      return;
    }
    late_ranks late;
    for_each_giver(from, [&](int rank) {
      if (!net.has_posted(rank)) late.add(rank);
    });
    throw error(errc::timeout,
                concat("rank ", plan_.self, ": ", plan_.what->text(), ": timed out", late.text), late.first);
  }

  /// Waits until all ranks have come here.
  template <SharedAddressTransport Net>
  void meet(Net& net, const message_header& header, late_deadline& until) {
    post(net, header, until);
    await(net, {}, until);
  }

  void for_each_giver(giver from, auto&& f) const {
    if (from) return f(*from);
    for (int rank = 0; rank < plan_.ranks; ++rank) f(rank);
  }

  /// Calls `f` with each rank and what it tells. Throws `mismatch`.
  template <SharedAddressTransport Net>
  void read_notes(Net& net, giver from, auto&& f) const {
    const auto header_of = [&](int rank) {
      message_header header;
      std::memcpy(&header, net.note(rank).data(), sizeof header);
      return header;
    };
    const std::size_t own_bytes = header_of(plan_.self).bytes;
    for_each_giver(from, [&](int rank) {
      if (rank != plan_.self) check_agreement(header_of(rank), posted_, own_bytes, plan_.self, rank);
      f(rank, net.note(rank).data() + sizeof(message_header));
    });
  }

  /// Finds what they have told of, and returns the ways that all of them have.
  template <SharedAddressTransport Net>
  ways read_places(Net& net, giver from) {
    const auto each = [&](auto&& f) {
      read_notes(net, from, [&](int rank, const std::byte* told) {
        places<Net> there;
        std::memcpy(&there, told, sizeof there);
        f(rank, there, told + sizeof there);
      });
    };
    ways all;
    each([&](int, const places<Net>& there, const std::byte*) {
      all.are_reachable &= there.are_reachable;
      all.has_input &= there.has_input;
      all.has_put &= there.has_put;
    });
    each([&](int rank, const places<Net>& there, const std::byte* noted) {
      if (rank == plan_.self) return;
      if (all.has_input) {
        set_noted(rank, noted);
      } else if (from) {
        return;  // it takes the others too
      } else if (all.are_reachable) {
        at(inputs_, rank) = net.reach(rank, there.input);
        at(outputs_, rank) = net.reach(rank, there.output);
      } else if (windows_.fit(plan_)) {
        windows_.set(rank, net.reach(rank, there.window));
      }
    });
    return all;
  }

  void set_noted(int rank, const std::byte* input) {
    if (rank != plan_.self) at(inputs_, rank) = input;
  }

  /// Does this rank's part. `enter()` keeps others waiting who come out of an abort, and throws after one: it is called
  /// for each piece, so that they wait no longer than that takes.
  void pass(const AllReduce&, auto&& enter) { combine(own_part(), receivers(), enter); }
  void pass(const Reduce&, auto&& enter) { combine(own_part(), receivers(), enter); }
  void pass(const ReduceScatter&, auto&& enter) { combine(plan_.part(plan_.self), {&plan_.self, 1}, enter); }

  void pass(const Broadcast&, auto&& enter) {
    const extent part = own_part();
    for (const int rank : receivers()) copy(in(plan_.root, part), out(rank, part), part, enter);
  }

  void pass(const AllGather&, auto&& enter) {
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const extent part = plan_.part(rank);
      copy(in(rank, part), out(plan_.self, part), part, enter);
    }
  }

  void pass(const AllToAll&, auto&& enter) {
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const extent part = plan_.part(rank);
      copy(in(rank, plan_.part(plan_.self)), out(plan_.self, part), part, enter);
    }
  }

  /// What this rank does of a whole buffer.
  extent own_part() const { return is_apart_ ? extent{0, plan_.shares.size()} : plan_.part(plan_.self); }

  /// The ranks that get it: this one first, if it is one of them.
  std::span<const int> receivers() {
    receivers_.clear();
    for (int k = 0; k < (is_apart_ ? 1 : plan_.ranks); ++k) {
      const int rank = (plan_.self + k) % plan_.ranks;
      if (plan_.held(plan_.output, rank).count > 0) receivers_.push_back(rank);
    }
    return receivers_;
  }

  void combine(extent part, std::span<const int> to, auto&& enter) {
    if (to.empty()) return;
    targets_.clear();
    for (const int rank : to) targets_.push_back(out(rank, part));
    if (is_apart_ && plan_.self != 0) {  // in a note it has any alignment
      first_.reserve(plan_.bytes(part));
      copy_bytes(first_.data(), in(0, part), plan_.bytes(part));
    }
    const auto from = [&, is_moved = is_apart_ && plan_.self != 0](int rank) {
      return is_moved && rank == 0 ? first_.data() : in(rank, part);
    };
    pieces_.combine(plan_, from, targets_, part.count, plan_.streams(), enter);
  }

  void copy(const std::byte* from, std::byte* to, extent e, auto&& enter) const {
    piecewise::copy(from, to, plan_.bytes(e), plan_.streams(), enter);
  }

  /// Where a rank has elements of its input and of its output.
  const std::byte* in(int rank, extent e) const {
    return at(inputs_, rank) + plan_.offset(plan_.input, rank, e.offset);
  }
  std::byte* out(int rank, extent e) const {
    return at(outputs_, rank) + plan_.offset(plan_.output, rank, e.offset);
  }

  direct_plan plan_;
  bool is_behind_ = false;  // not all notes of the last number have been seen
  call posted_;             // to which that belongs
  bool is_apart_ = false;   // every rank makes its output by itself, of inputs that came with the notes
  std::vector<const std::byte*> inputs_;  // by rank
  std::vector<std::byte*> outputs_;
  std::vector<int> receivers_;
  std::vector<std::byte*> targets_;  // where they get it
  scratch_memory<> first_;
  piecewise pieces_;
  windows<Memory> windows_;
};

}  // namespace hccl::inline v0::detail
