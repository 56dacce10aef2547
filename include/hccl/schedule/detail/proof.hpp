// SPDX-License-Identifier: Apache-2.0
#pragma once

// A schedule run on symbolic contributions.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/detail/expression_table.hpp>
#include <hccl/schedule/detail/sequence.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/verdict.hpp>

#include <concepts>
#include <cstdint>

namespace hccl::inline v0::detail {

/// What a collective leaves in an output block.
enum class outcome {
  moved,         ///< the only contribution
  transposed,    ///< the block that its rank has for this one
  sum,           ///< of all ranks
  sum_up_to,     ///< of the ranks up to this one
  sum_of_lower,  ///< of the ranks below this one
};

template <Collective C>
constexpr outcome outcome_of() {
  if (Transposing<C>) return outcome::transposed;
  if (std::same_as<C, Scan>) return outcome::sum_up_to;
  if (std::same_as<C, ExScan>) return outcome::sum_of_lower;
  const bool reduces = C::input == portion::all;
  return reduces ? outcome::sum : outcome::moved;
}

class proof;

/// What is to be proven: a schedule and what it promises, without its types, so that the proof is compiled once.
struct statement {
  group ranks;
  int root;
  portion input, output;
  outcome result;
  bool is_shared;    // blocks belong to ranks, see `Shared`
  bool has_scratch;  // scratch may hold blocks
  bool keeps_order;
  int blocks;
  int rounds;
  void (*steps)(int root, const group& ranks, int self, int round, proof& taker);
};

/// Runs a schedule on all ranks at once; `can_cut` holds. Outputs lie apart from inputs, and what would go wrong
/// in place is a fault too.
class proof {
 public:
  constexpr explicit proof(const statement& s)
      : given_(s),
        ranks_(s.ranks.size()),
        blocks_(s.blocks),
        table_(ranks_),
        cells_(ranks_ * 3 * blocks_),
        queues_(ranks_ * ranks_) {}

  /// Tells whether the number of blocks can be: at least one, and equally many for each rank to which blocks belong.
  static constexpr bool can_cut(const statement& s) {
    return s.blocks >= 1 && (!s.is_shared || s.blocks % s.ranks.size() == 0);
  }

  /// Takes down a step of a rank in the round at hand.
  constexpr void take(int rank, const step& s) {
    if (verdict_.what != fault::none) return;
    const block_set& b = s.blocks;
    if (s.peer < 0 || s.peer >= ranks_ || b.first < 0 || b.first >= blocks_ || b.count < 0 ||
        b.count > blocks_ || b.width < 1) {
      fail(fault::bad_step, rank, b.first);
    } else if (s.what == action::send) {
      queue& q = queues_[rank * ranks_ + s.peer];
      (q.first == nothing ? q.first : messages_[q.last].next) = messages_.size();
      q.last = messages_.size();
      messages_.push({rank, s.peer, b, s.from});
    } else {
      arrivals_.push({rank, s});
    }
  }

  constexpr verdict run() {
    lay_out();
    for (round_ = 0; round_ < given_.rounds; ++round_) {
      if (!collect() || !match() || !play()) return verdict_;
    }
    round_ = -1;
    check_outputs();
    return verdict_;
  }

 private:
  static constexpr int nothing = -1;

  /// One block in one place of a rank, and who touched it last: arrivals are numbered on from round to round.
  struct cell {
    int content = nothing;
    int sent = nothing;    // the round
    int writer = nothing;  // the arrival
    int copied = nothing;  // the arrival whose local message it is read for
    int position = 0;      // in that message
    bool is_held = false;
    bool is_overwritten = false;  // an input, in place
  };

  struct message {
    int from = 0, to = 0;
    block_set blocks{};
    place where = place::input;
    int next = nothing;  // between the same ranks
    int contents = 0;    // where they begin
  };

  struct arrival {
    int rank = 0;
    step what{};
    int source = nothing;  // the message
  };

  /// Messages from one rank to another that have no arrival yet.
  struct queue {
    int first = nothing;
    int last = nothing;
  };

  constexpr bool fail(fault what, int rank, int block) {
    verdict_ = {what, rank, round_, block};
    return false;
  }

  /// The cells of a rank's output lie behind those of its input.
  constexpr int index_of(int rank, place where, int block) const {
    return (rank * 3 + static_cast<int>(where)) * blocks_ + block;
  }

  /// Makes the cells, and fills the inputs.
  constexpr void lay_out() {
    for (int rank = 0; rank < ranks_; ++rank) {
      for (const place where : {place::input, place::output, place::scratch}) {
        for (int block = 0; block < blocks_; ++block) {
          cell& c = cells_[index_of(rank, where, block)];
          c.is_held = where == place::scratch ? given_.has_scratch
                                              : holds(where == place::input ? given_.input : given_.output,
                                                      given_.root, rank, block, blocks_, ranks_);
          if (c.is_held && where == place::input) c.content = table_.contribution(rank, block);
        }
      }
    }
  }

  /// Takes down the steps of all ranks.
  constexpr bool collect() {
    messages_.clear();
    arrivals_.clear();
    for (int rank = 0; rank < ranks_; ++rank) given_.steps(given_.root, given_.ranks, rank, round_, *this);
    return verdict_.what == fault::none;
  }

  /// Finds the message of each arrival.
  constexpr bool match() {
    for (arrival& a : arrivals_) {
      queue& q = queues_[a.what.peer * ranks_ + a.rank];
      if (q.first == nothing) return fail(fault::no_message, a.rank, a.what.blocks.first);
      a.source = q.first;
      const message& m = messages_[q.first];
      q.first = m.next;
      if (!same_size(m, a)) return fail(fault::size_differs, a.rank, a.what.blocks.first);
    }
    if (arrivals_.size() == messages_.size()) return true;
    for (const message& m : messages_) {
      if (queues_[m.from * ranks_ + m.to].first != nothing)
        return fail(fault::no_receiver, m.from, m.blocks.first);
    }
    return true;
  }

  /// Tells whether what is sent has as many elements as what is expected, whatever the count.
  constexpr bool same_size(const message& m, const arrival& a) const {
    const block_set& there = m.blocks;
    const block_set& here = a.what.blocks;
    if (there.count != here.count) return false;
    if (!is_transposed() && there == here) return true;
    for (int k = 0; k < there.count; ++k) {
      if (size_class(m.from, m.where, there.at(k, blocks_)) !=
          size_class(a.rank, a.what.to, here.at(k, blocks_)))
        return false;
    }
    return true;
  }

  /// Blocks of one class have equally many elements whatever the count.
  constexpr int size_class(int rank, place where, int block) const {
    if (!is_transposed()) return block;
    const int per_share = blocks_ / ranks_;
    const int share = block / per_share, within = block % per_share;
    if (given_.has_scratch) return within;  // all shares are equally large
    const int from = where == place::input ? rank : share, to = where == place::input ? share : rank;
    return (from * ranks_ + to) * per_share + within;
  }

  /// Runs the steps of the round: the sends are read first, since what they read must not change.
  constexpr bool play() {
    contents_.clear();
    for (message& m : messages_) {
      if (m.from != m.to && !load(m)) return false;
    }
    for (const arrival& a : arrivals_) {
      if (!arrive(a)) return false;
      ++number_;
    }
    first_number_ = number_;
    return true;
  }

  /// Takes the contents of a message from its sender's memory.
  constexpr bool load(message& m) {
    m.contents = contents_.size();
    for (int k = 0; k < m.blocks.count; ++k) {
      const int block = m.blocks.at(k, blocks_);
      const int content = read(m.from, m.where, block);
      if (content == nothing) return false;
      contents_.push(content);
      cell& c = cells_[index_of(m.from, m.where, block)];
      if (m.from != m.to) {
        c.sent = round_;
        continue;
      }
      if (!may_touch(c.writer) || !may_touch(c.copied)) return fail(fault::concurrent_access, m.from, block);
      c.copied = number_;
      c.position = k;
    }
    return true;
  }

  constexpr bool arrive(const arrival& a) {
    const step& s = a.what;
    message& m = messages_[a.source];
    const bool is_local = m.from == m.to;
    if (is_local && !load(m)) return false;
    for (int k = 0; k < s.blocks.count; ++k) {
      const int block = s.blocks.at(k, blocks_);
      int content = contents_[m.contents + k];
      if (s.what != action::receive) {
        const int stored = read(a.rank, s.from, block);
        if (stored == nothing) return false;
        const bool front = s.what == action::reduce_front;
        const fault f =
            table_.combine(front ? content : stored, front ? stored : content, given_.keeps_order);
        if (f != fault::none) return fail(f, a.rank, block);
        content = table_.last();
      }
      if (is_local && shifts(cells_[index_of(a.rank, s.to, block)], k))
        return fail(fault::concurrent_access, a.rank, block);
      const bool is_own_input = is_local && s.what == action::receive && m.where == place::input &&
                                m.blocks.at(k, blocks_) == block;
      if (!write(a.rank, s.to, block, content, is_own_input)) return false;
    }
    return true;
  }

  /// Returns what a block holds, or nothing if it may not be read.
  constexpr int read(int rank, place where, int block) {
    const cell& c = cells_[index_of(rank, where, block)];
    fault f = fault::none;
    if (!c.is_held) {
      f = fault::outside_buffer;
    } else if (c.is_overwritten) {
      f = fault::overwritten_input;
    } else if (c.content == nothing) {
      f = fault::read_before_write;
    }
    if (f != fault::none) return fail(f, rank, block), nothing;
    return c.content;
  }

  /// Tells whether the arrival at hand comes after the one that touched a cell: that was in an earlier round, or the
  /// two share a block.
  constexpr bool may_touch(int other) const {
    if (other < first_number_ || other == number_) return true;
    return intersect(arrivals_[other - first_number_].what.blocks,
                     arrivals_[number_ - first_number_].what.blocks, blocks_);
  }

  /// Tells whether the local message at hand, of which the k-th block goes to a cell, reads that for another one:
  /// blocks are copied one after the other.
  constexpr bool shifts(const cell& target, int k) const {
    return target.copied == number_ && target.position != k;
  }

  /// Puts contents into a block. In place, a rank's own input is in its output already.
  constexpr bool write(int rank, place where, int block, int content, bool is_own_input) {
    const int index = index_of(rank, where, block);
    cell& c = cells_[index];
    if (where == place::input || !c.is_held) return fail(fault::outside_buffer, rank, block);
    if (const fault f = claim(c); f != fault::none) return fail(f, rank, block);
    c.content = content;
    if (is_transposed() || where != place::output || is_own_input) return true;
    cell& input = cells_[index - blocks_];
    if (!input.is_held) return true;
    if (const fault f = claim(input); f != fault::none) return fail(f, rank, block);
    input.is_overwritten = content != input.content;
    return true;
  }

  /// Notes that the arrival at hand writes a cell.
  constexpr fault claim(cell& c) const {
    if (c.sent == round_) return fault::overwritten_while_read;
    if (!may_touch(c.copied) || !may_touch(c.writer)) return fault::concurrent_access;
    c.writer = number_;
    return fault::none;
  }

  constexpr bool check_outputs() {
    for (int block = 0; block < blocks_; ++block) {
      std::uint64_t digest = 0;
      for (int rank = 0; rank < ranks_; ++rank) {
        const cell& c = cells_[index_of(rank, place::output, block)];
        if (!c.is_held) continue;
        if (c.content == nothing || !is_result(c.content, rank, block))
          return fail(fault::wrong_result, rank, block);
        if (given_.result != outcome::sum && given_.result != outcome::moved) continue;  // each has its own
        if (digest != 0 && table_[c.content].digest != digest)
          return fail(fault::results_differ, rank, block);
        digest = table_[c.content].digest;
      }
    }
    return true;
  }

  constexpr bool is_result(int content, int rank, int block) const {
    const expression& e = table_[content];
    if (!is_transposed() && e.block != block) return false;
    switch (given_.result) {
      case outcome::moved:
        return true;
      case outcome::transposed: {
        const int per_share = blocks_ / ranks_;
        return e.block == rank * per_share + block % per_share && e.lowest == block / per_share &&
               e.lowest == e.highest;
      }
      case outcome::sum:
        return table_.is_sum_of_first(content, ranks_);
      case outcome::sum_up_to:
        return table_.is_sum_of_first(content, rank + 1);
      case outcome::sum_of_lower:
        return table_.is_sum_of_first(content, rank);
    }
    return false;
  }

  constexpr bool is_transposed() const { return given_.result == outcome::transposed; }

  statement given_;
  int ranks_, blocks_;
  expression_table table_;
  sequence<cell> cells_;  // see index_of
  sequence<queue> queues_;
  sequence<message> messages_;  // of the round
  sequence<arrival> arrivals_;
  sequence<int> contents_;
  int number_ = 0;        // of the arrival at hand
  int first_number_ = 0;  // of the round
  int round_ = -1;
  verdict verdict_;
};

}  // namespace hccl::inline v0::detail
