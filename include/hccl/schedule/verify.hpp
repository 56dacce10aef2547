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

/// Symbolic memory of all ranks, and the messages of the round at hand.
class symbolic_machine {
 public:
  constexpr symbolic_machine(int ranks, int blocks, int segments, bool ordered)
      : ranks_(ranks),
        blocks_(blocks),
        segments_(segments),
        ordered_(ordered),
        words_((ranks + 63) / 64),
        values_(cells() * stride(), 0),
        read_(cells(), 0),
        written_(cells(), 0) {}

  /// An expression over contributions to a block: which ranks contributed, the block, and a digest of the
  /// expression tree; empty if the digest is 0.
  using value = std::vector<std::uint64_t>;  // words of the rank set, then the block, then the digest

  constexpr std::size_t cell(int rank, place where, int block) const {
    return (static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(where)) *
               static_cast<std::size_t>(blocks_) +
           static_cast<std::size_t>(block);
  }

  constexpr value contribution(int rank, int block) const {
    value v(stride(), 0);
    v[words()] = static_cast<std::uint64_t>(block);
    v[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
    v.back() = scramble(static_cast<std::uint64_t>(rank) + 1);
    return v;
  }

  constexpr value everything(int block) const {
    value v(stride(), 0);
    v[words()] = static_cast<std::uint64_t>(block);
    for (int r = 0; r < ranks_; ++r) v[static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
    return v;
  }

  constexpr value load(std::size_t cell) const {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(cell * stride());
    return value(begin, begin + static_cast<std::ptrdiff_t>(stride()));
  }

  constexpr void store(std::size_t cell, const value& v) {
    for (std::size_t i = 0; i < stride(); ++i) values_[cell * stride() + i] = v[i];
  }

  static constexpr bool empty(const value& v) { return v.back() == 0; }

  /// The same contributors to the same block.
  static constexpr bool same_contents(const value& a, const value& b) {
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

  /// Computes op(left, right) into `left`.
  constexpr fault combine(value& left, const value& right) const {
    if (left[words()] != right[words()]) return fault::wrong_result;
    for (std::size_t i = 0; i < words(); ++i) {
      if ((left[i] & right[i]) != 0) return fault::contributed_twice;
    }
    if (ordered_ && highest(left) > lowest(right)) return fault::out_of_order;
    for (std::size_t i = 0; i < words(); ++i) left[i] |= right[i];
    left.back() = scramble(left.back() * 3 + right.back() * 5 + 7);
    return fault::none;
  }

  /// Blocks hold equally many elements whatever the count.
  constexpr bool same_size(int a, int b) const {
    return segments_ == 0 ? a == b : a % segments_ == b % segments_;
  }

  constexpr void begin_round() {
    read_.assign(cells(), 0);
    written_.assign(cells(), 0);
    chain_ = 1;
  }

  static constexpr int sending = -1;  // the chain of a send that is read throughout the round

  constexpr int next_chain() { return ++chain_; }

  /// Notes that steps of `chain` read the cell in this round; false if something else writes it.
  constexpr fault note_read(std::size_t cell, int chain) {
    const int writer = written_[cell];
    if (writer != 0 && writer != chain)
      return chain == sending ? fault::overwritten_while_read : fault::concurrent_access;
    if (read_[cell] != sending) read_[cell] = read_[cell] == 0 || read_[cell] == chain ? chain : several;
    if (chain == sending) read_[cell] = sending;
    return fault::none;
  }

  /// Notes that steps of `chain` write the cell in this round.
  constexpr fault note_write(std::size_t cell, int chain) {
    if (read_[cell] == sending) return fault::overwritten_while_read;
    if (read_[cell] != 0 && read_[cell] != chain) return fault::concurrent_access;
    if (written_[cell] != 0 && written_[cell] != chain) return fault::concurrent_access;
    written_[cell] = chain;
    return fault::none;
  }

 private:
  static constexpr int several = -2;

  constexpr std::size_t cells() const {
    return static_cast<std::size_t>(ranks_) * 3 * static_cast<std::size_t>(blocks_);
  }
  constexpr std::size_t words() const { return static_cast<std::size_t>(words_); }
  constexpr std::size_t stride() const { return words() + 2; }

  static constexpr std::uint64_t scramble(std::uint64_t x) {  // splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) | 1u;
  }

  constexpr int lowest(const value& v) const {
    for (std::size_t i = 0; i < words(); ++i) {
      if (v[i] != 0) return static_cast<int>(i) * 64 + std::countr_zero(v[i]);
    }
    return -1;
  }

  constexpr int highest(const value& v) const {
    for (std::size_t i = words(); i-- > 0;) {
      if (v[i] != 0) return static_cast<int>(i) * 64 + 63 - std::countl_zero(v[i]);
    }
    return -1;
  }

  int ranks_, blocks_, segments_;
  bool ordered_;
  int words_;
  int chain_ = 1;
  std::vector<std::uint64_t> values_;
  std::vector<int> read_, written_;  // per cell, the chain that touched it in this round
};

/// Runs A's schedule for C on all ranks at once.
template <class A, Collective C>
class proof {
 public:
  constexpr proof(const C& collective, const group& g, bool in_place)
      : collective_(collective),
        group_(g),
        in_place_(in_place),
        ranks_(g.size()),
        blocks_(blocks_of<A>(collective, g)),
        machine_(ranks_, blocks_, Owned<C> ? blocks_ / ranks_ : 0, keeps_order<A, C>) {}

  constexpr verdict run() {
    if (blocks_ < 1 || (Owned<C> && blocks_ % ranks_ != 0)) return {fault::bad_step};
    fill_inputs();
    const int rounds = A::rounds(collective_, group_);
    for (round_ = 0; round_ < rounds; ++round_) {
      if (!play_round()) return verdict_;
    }
    round_ = -1;
    check_outputs();
    return verdict_;
  }

 private:
  struct message {
    int to;
    block_set blocks;
    place from;
    bool taken = false;
    std::vector<symbolic_machine::value> contents{};
  };

  constexpr bool fail(fault what, int rank, int block) {
    verdict_ = {what, rank, round_, block};
    return false;
  }

  /// The place that a name means on this rank: in place, the output is the input wherever the input is held.
  constexpr place canonical(place where, int rank, int block) const {
    const bool aliased = in_place_ && where == place::output && held(place::input, rank, block);
    return aliased ? place::input : where;
  }

  constexpr bool held(place where, int rank, int block) const {
    return holds(collective_, where, rank, block, blocks_, ranks_);
  }

  constexpr std::size_t cell(int rank, place where, int block) const {
    return machine_.cell(rank, canonical(where, rank, block), block);
  }

  /// Whose contribution an input block carries: the combined one of all ranks, or that of its owner or root.
  constexpr int contributor(int rank, int block) const {
    if constexpr (std::same_as<C, AllGather>) return block / (blocks_ / ranks_);
    if constexpr (std::same_as<C, Broadcast>) return collective_.root;
    return rank;
  }

  constexpr symbolic_machine::value expected(int rank, int block) const {
    if constexpr (std::same_as<C, AllGather> || std::same_as<C, Broadcast>) {
      return machine_.contribution(contributor(rank, block), block);
    } else {
      return machine_.everything(block);
    }
  }

  constexpr void fill_inputs() {
    for (int rank = 0; rank < ranks_; ++rank) {
      for (int block = 0; block < blocks_; ++block) {
        if (!held(place::input, rank, block)) continue;
        machine_.store(machine_.cell(rank, place::input, block),
                       machine_.contribution(contributor(rank, block), block));
      }
    }
  }

  constexpr bool play_round() {
    machine_.begin_round();
    std::vector<std::vector<message>> sent(static_cast<std::size_t>(ranks_));
    std::vector<std::vector<step>> arrivals(static_cast<std::size_t>(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      bool sound = true;
      A::steps(collective_, group_, rank, round_, [&](const step& s) {
        sound = sound && check(s, rank);
        if (s.what != action::send) {
          arrivals[r].push_back(s);
        } else if (sound) {
          sent[r].push_back({s.peer, s.blocks, s.from});
          if (s.peer != rank) sound = read(sent[r].back(), rank, symbolic_machine::sending);
        }
      });
      if (!sound) return false;
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      block_set previous{0, 0};
      int chain = 1;
      for (const step& s : arrivals[static_cast<std::size_t>(rank)]) {
        if (!intersect(previous, s.blocks, blocks_)) chain = machine_.next_chain();
        if (!arrive(s, rank, chain, sent[static_cast<std::size_t>(s.peer)])) return false;
        previous = s.blocks;
      }
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      for (const message& m : sent[static_cast<std::size_t>(rank)]) {
        if (!m.taken) return fail(fault::no_receiver, rank, m.blocks.first);
      }
    }
    return true;
  }

  constexpr bool check(const step& s, int rank) {
    if (s.peer < 0 || s.peer >= ranks_) return fail(fault::bad_step, rank, -1);
    const block_set b = s.blocks;
    if (b.first < 0 || b.first >= blocks_ || b.count < 0 || b.count > blocks_)
      return fail(fault::bad_step, rank, b.first);
    const bool reads = s.what != action::receive;
    const bool writes = s.what != action::send;
    for (int k = 0; k < b.count; ++k) {
      const int block = b.at(k, blocks_);
      if (reads && !held(s.from, rank, block)) return fail(fault::outside_buffer, rank, block);
      if (writes && (s.to == place::input || !held(s.to, rank, block)))
        return fail(fault::outside_buffer, rank, block);
    }
    return true;
  }

  /// Takes the contents of a message from its sender's memory.
  constexpr bool read(message& m, int rank, int chain) {
    for (int k = 0; k < m.blocks.count; ++k) {
      const int block = m.blocks.at(k, blocks_);
      const std::size_t source = cell(rank, m.from, block);
      if (const fault f = machine_.note_read(source, chain); f != fault::none) return fail(f, rank, block);
      m.contents.push_back(machine_.load(source));
      if (symbolic_machine::empty(m.contents.back())) return fail(fault::read_before_write, rank, block);
    }
    return true;
  }

  constexpr bool arrive(const step& s, int rank, int chain, std::vector<message>& from_peer) {
    message* found = nullptr;
    for (message& m : from_peer) {
      if (m.to == rank && !m.taken) {
        found = &m;
        break;
      }
    }
    if (found == nullptr) return fail(fault::no_message, rank, s.blocks.first);
    found->taken = true;
    if (found->blocks.count != s.blocks.count) return fail(fault::size_differs, rank, s.blocks.first);
    if (s.peer == rank && !read(*found, rank, chain)) return false;
    for (int k = 0; k < s.blocks.count; ++k) {
      const int block = s.blocks.at(k, blocks_);
      if (!machine_.same_size(found->blocks.at(k, blocks_), block))
        return fail(fault::size_differs, rank, block);
      const bool is_no_op = s.peer == rank && s.what == action::receive &&
                            cell(rank, s.to, block) == cell(rank, found->from, found->blocks.at(k, blocks_));
      if (is_no_op) continue;
      if (!put(s, rank, block, chain, found->contents[static_cast<std::size_t>(k)])) return false;
    }
    return true;
  }

  constexpr bool put(const step& s, int rank, int block, int chain, symbolic_machine::value& arriving) {
    if (s.what != action::receive) {
      const std::size_t source = cell(rank, s.from, block);
      if (const fault f = machine_.note_read(source, chain); f != fault::none) return fail(f, rank, block);
      symbolic_machine::value stored = machine_.load(source);
      if (symbolic_machine::empty(stored)) return fail(fault::read_before_write, rank, block);
      if (s.what == action::reduce) stored.swap(arriving);
      if (const fault f = machine_.combine(arriving, stored); f != fault::none) return fail(f, rank, block);
    }
    const std::size_t target = cell(rank, s.to, block);
    if (const fault f = machine_.note_write(target, chain); f != fault::none) return fail(f, rank, block);
    machine_.store(target, arriving);
    return true;
  }

  constexpr void check_outputs() {
    for (int block = 0; block < blocks_; ++block) {
      std::uint64_t expression = 0;
      for (int rank = 0; rank < ranks_; ++rank) {
        if (!held(place::output, rank, block)) continue;
        const auto result = machine_.load(cell(rank, place::output, block));
        if (symbolic_machine::empty(result) ||
            !symbolic_machine::same_contents(result, expected(rank, block))) {
          fail(fault::wrong_result, rank, block);
          return;
        }
        if (expression != 0 && result.back() != expression) {
          fail(fault::results_differ, rank, block);
          return;
        }
        expression = result.back();
      }
    }
  }

  C collective_;
  group group_;
  bool in_place_;
  int ranks_, blocks_;
  symbolic_machine machine_;
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
/// Works in constant expressions. Costs O(messages + ranks * blocks) steps and 24 bytes and more per rank and
/// block.
template <class A, Collective C>
  requires Offers<A, C>
constexpr verdict verify(const group& g, const C& collective = {}) {
  if (g.size() == 1) return {};
  const verdict apart = detail::proof<schedule_of<A, C>, C>(collective, g, false).run();
  return apart ? detail::proof<schedule_of<A, C>, C>(collective, g, true).run() : apart;
}

}  // namespace hccl::inline v0
