// SPDX-License-Identifier: Apache-2.0
#pragma once

// The proof of a schedule: it is run on symbolic contributions, at compile time or in a test.

#include <hccl/schedule/combinators.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hccl::inline v0 {

/// What is wrong with a schedule.
enum class fault {
  none,
  bad_step,                ///< a peer or a block that does not exist
  outside_buffer,          ///< a place that does not hold the block on this rank, or the input as a target
  read_before_write,       ///< a block is read before anything was put there
  overwritten_while_read,  ///< a block is written in the round in which it is being sent
  overwritten_input,       ///< in place, an input is read when the output has taken its place
  concurrent_access,       ///< two steps of a round touch a block, one writes, and nothing orders them
  no_message,              ///< an arrival without a send
  no_receiver,             ///< a send without an arrival
  size_differs,            ///< send and arrival name blocks of different size
  contributed_twice,       ///< a contribution is combined with itself
  out_of_order,            ///< operands are swapped although the algorithm claims to keep rank order
  wrong_result,            ///< an output block lacks contributions, or is another one
  results_differ,          ///< two ranks compute a block by different expressions: their bits may differ
};

/// Says what a fault is, in words.
constexpr std::string_view to_string(fault what) {
  switch (what) {
    case fault::none:
      return "correct";
    case fault::bad_step:
      return "a peer or a block that does not exist";
    case fault::outside_buffer:
      return "a place that does not hold the block on this rank, or the input as a target";
    case fault::read_before_write:
      return "a block is read before anything was put there";
    case fault::overwritten_while_read:
      return "a block is written in the round in which it is being sent";
    case fault::overwritten_input:
      return "in place, an input is read when the output has taken its place";
    case fault::concurrent_access:
      return "two unordered steps of a round touch a block, and one writes";
    case fault::no_message:
      return "an arrival without a send";
    case fault::no_receiver:
      return "a send without an arrival";
    case fault::size_differs:
      return "send and arrival name blocks of different size";
    case fault::contributed_twice:
      return "a contribution is combined with itself";
    case fault::out_of_order:
      return "operands are swapped, but the algorithm claims to keep rank order";
    case fault::wrong_result:
      return "an output block lacks contributions, or is another one";
    case fault::results_differ:
      return "two ranks compute a block by different expressions";
  }
  return "unknown";
}

/// What `verify` found: nothing, or the first fault and where.
struct verdict {
  fault what = fault::none;
  int rank = -1;
  int round = -1;
  int block = -1;

  /// True if the schedule is correct.
  constexpr explicit operator bool() const { return what == fault::none; }
};

namespace detail {

/// A sequence that grows. Constant evaluation takes ten times as long for std::vector.
template <class T>
class sequence {
 public:
  constexpr explicit sequence(int size = 0)
      : size_(size), capacity_(size), items_(new T[capacity_of(size)]{}) {}
  constexpr ~sequence() { delete[] items_; }
  sequence(const sequence&) = delete;
  sequence& operator=(const sequence&) = delete;

  constexpr int size() const { return size_; }
  constexpr T& operator[](int index) { return items_[index]; }
  constexpr const T& operator[](int index) const { return items_[index]; }
  constexpr T* begin() { return items_; }
  constexpr T* end() { return items_ + size_; }
  constexpr void clear() { size_ = 0; }

  constexpr void push(const T& item) {
    if (size_ == capacity_) grow();
    items_[size_++] = item;
  }

 private:
  static constexpr std::size_t capacity_of(int size) { return static_cast<std::size_t>(size); }

  constexpr void grow() {
    capacity_ = 2 * capacity_ + 32;
    T* const larger = new T[capacity_of(capacity_)]{};
    for (int i = 0; i < size_; ++i) larger[i] = items_[i];
    delete[] items_;
    items_ = larger;
  }

  int size_;
  int capacity_;
  T* items_;
};

/// What a block holds: an expression over contributions to one block of the inputs.
struct expression {
  int block = 0;
  int lowest = 0;  // contributing rank
  int highest = 0;
  std::uint64_t digest = 0;  // of the expression tree
};

/// All expressions of a proof and who has contributed to them, by number: moving a block is moving a number.
class expression_table {
 public:
  constexpr explicit expression_table(int ranks) : words_((ranks + 63) / 64) {}

  constexpr const expression& operator[](int number) const { return all_[number]; }

  constexpr int contribution(int rank, int block) {
    for (int word = 0; word < words_; ++word) {
      sets_.push(word == rank / 64 ? std::uint64_t{1} << (rank % 64) : 0);
    }
    all_.push({block, rank, rank, scramble(static_cast<std::uint64_t>(rank) + 1)});
    return all_.size() - 1;
  }

  /// Makes op(left, right), whose number is then `last()`.
  constexpr fault combine(int left, int right, bool ordered) {
    const expression& l = all_[left];
    const expression& r = all_[right];
    if (l.block != r.block) return fault::wrong_result;
    for (int word = 0; word < words_; ++word) {
      const std::uint64_t a = sets_[left * words_ + word], b = sets_[right * words_ + word];
      if ((a & b) != 0) return fault::contributed_twice;
      sets_.push(a | b);
    }
    if (ordered && l.highest > r.lowest) return fault::out_of_order;
    all_.push({l.block, l.lowest < r.lowest ? l.lowest : r.lowest,
               l.highest > r.highest ? l.highest : r.highest, scramble(l.digest * 3 + r.digest * 5 + 7)});
    return fault::none;
  }

  constexpr int last() const { return all_.size() - 1; }

  /// Tells whether the first `ranks` ranks have contributed, and no other.
  constexpr bool is_sum_of_first(int number, int ranks) const {
    for (int word = 0; word < words_; ++word) {
      const int left = ranks - word * 64;
      const std::uint64_t full = left >= 64 ? ~std::uint64_t{0}
                                 : left > 0 ? (std::uint64_t{1} << left) - 1
                                            : 0;
      if (sets_[number * words_ + word] != full) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t scramble(std::uint64_t x) {  // splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) | 1u;  // never 0
  }

  int words_;
  sequence<expression> all_;
  sequence<std::uint64_t> sets_;  // of ranks, `words_` for each expression
};

/// Runs A's schedule for C on all ranks at once. Outputs lie apart from inputs, and what would go wrong in place
/// is a fault too.
template <class A, Collective C>
class proof {
 public:
  constexpr proof(const C& collective, const group& g)
      : collective_(collective),
        group_(g),
        ranks_(g.size()),
        blocks_(blocks_of<A>(collective, g)),
        table_(ranks_),
        queues_(ranks_ * ranks_) {}

  constexpr verdict run() {
    if (blocks_ < 1 || (Shared<C> && blocks_ % ranks_ != 0)) return {fault::bad_step};
    lay_out();
    const int rounds = A::rounds(collective_, group_);
    for (round_ = 0; round_ < rounds; ++round_) {
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
          cell c;
          c.is_held = holds(collective_, where, rank, block, blocks_, ranks_);
          if (c.is_held && where == place::input) c.content = table_.contribution(rank, block);
          cells_.push(c);
        }
      }
    }
  }

  /// Takes down the steps of all ranks.
  constexpr bool collect() {
    messages_.clear();
    arrivals_.clear();
    bool sound = true;
    for (int rank = 0; sound && rank < ranks_; ++rank) {
      A::steps(collective_, group_, rank, round_, [&](const step& s) {
        if (!sound) return;
        const block_set& b = s.blocks;
        if (s.peer < 0 || s.peer >= ranks_ || b.first < 0 || b.first >= blocks_ || b.count < 0 ||
            b.count > blocks_) {
          sound = fail(fault::bad_step, rank, b.first);
        } else if (s.what == action::send) {
          queue& q = queues_[rank * ranks_ + s.peer];
          (q.first == nothing ? q.first : messages_[q.last].next) = messages_.size();
          q.last = messages_.size();
          messages_.push({rank, s.peer, b, s.from});
        } else {
          arrivals_.push({rank, s});
        }
      });
    }
    return sound;
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
    if (!Transposing<C> && there == here) return true;
    for (int k = 0; k < there.count; ++k) {
      if (size_class(m.from, m.where, there.at(k, blocks_)) !=
          size_class(a.rank, a.what.to, here.at(k, blocks_)))
        return false;
    }
    return true;
  }

  /// Blocks of one class have equally many elements whatever the count.
  constexpr int size_class(int rank, place where, int block) const {
    if constexpr (Transposing<C>) {
      const int per_share = blocks_ / ranks_;
      const int share = block / per_share, within = block % per_share;
      if (std::same_as<C, AllToAll>) return within;
      const int from = where == place::input ? rank : share, to = where == place::input ? share : rank;
      return (from * ranks_ + to) * per_share + within;
    }
    return block;
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
        const fault f = table_.combine(front ? content : stored, front ? stored : content, keeps_order<A, C>);
        if (f != fault::none) return fail(f, a.rank, block);
        content = table_.last();
      }
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

  /// Puts contents into a block. In place, a rank's own input is in its output already.
  constexpr bool write(int rank, place where, int block, int content, bool is_own_input) {
    const int index = index_of(rank, where, block);
    cell& c = cells_[index];
    if (where == place::input || !c.is_held) return fail(fault::outside_buffer, rank, block);
    if (const fault f = claim(c); f != fault::none) return fail(f, rank, block);
    c.content = content;
    if (Transposing<C> || where != place::output || is_own_input) return true;
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
        if (Transposing<C> || Scanning<C>) continue;  // every rank has a result of its own
        if (digest != 0 && table_[c.content].digest != digest)
          return fail(fault::results_differ, rank, block);
        digest = table_[c.content].digest;
      }
    }
    return true;
  }

  constexpr bool is_result(int content, int rank, int block) const {
    const expression& e = table_[content];
    if constexpr (Transposing<C>) {
      const int per_share = blocks_ / ranks_;
      return e.block == rank * per_share + block % per_share && e.lowest == block / per_share &&
             e.lowest == e.highest;
    } else {
      if (e.block != block) return false;
      if constexpr (std::same_as<C, Scan>) return table_.is_sum_of_first(content, rank + 1);
      if constexpr (std::same_as<C, ExScan>) return table_.is_sum_of_first(content, rank);
      if constexpr (std::same_as<C, AllReduce> || std::same_as<C, Reduce> || std::same_as<C, ReduceScatter>)
        return table_.is_sum_of_first(content, ranks_);
      return true;  // its only contributor
    }
  }

  C collective_;
  group group_;
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

}  // namespace detail

/// Proves A's schedule for C over g, out of place and in place.
///
/// The schedule of all ranks is run on symbolic contributions. It is correct if every output block holds
/// every contribution exactly once, nothing is read before it is written or written while it is read in the
/// same round, every send has its arrival of the same size, operands keep rank order if the algorithm claims
/// it, and all ranks compute a block by the same expression, so that they hold the same bits. One rank is
/// always correct: nothing is sent.
///
/// Works in constant expressions. Costs O(messages + ranks * blocks) steps and about 50 bytes per rank and
/// block.
template <class A, Collective C>
  requires Offers<A, C>
constexpr verdict verify(const group& g, const C& collective = {}) {
  if (g.size() == 1) return {};
  return detail::proof<schedule_of<A, C>, C>(collective, g).run();
}

}  // namespace hccl::inline v0
