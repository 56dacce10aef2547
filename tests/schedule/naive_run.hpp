// SPDX-License-Identifier: Apache-2.0
#pragma once

// A schedule executed on words, without any of the thoughts of `verify`: memory is memory, messages wait in queues,
// and what may happen in any order happens in several.

#include "schedule/recording.hpp"

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace hccl_test {

/// What runs first when several things may.
enum class preference { sends, arrivals, chance };

/// One execution. At most ten ranks: a rank is a digit.
template <class C>
class naive_run {
 public:
  naive_run(const recording& all, const C& c, bool in_place, preference first, unsigned seed)
      : all_(all),
        collective_(c),
        in_place_(in_place),
        first_(first),
        random_(seed),
        memory_(index(all.ranks) * 3 * index(all.blocks)),
        queues_(index(all.ranks) * index(all.ranks)) {}

  /// Runs all rounds. Tells whether nothing got stuck and every output is what it should be.
  bool is_right(bool ordered) {
    for (int rank = 0; rank < all_.ranks; ++rank) {
      for (int block = 0; block < all_.blocks; ++block) {
        if (has(hccl::place::input, rank, block))
          memory(rank, hccl::place::input, block) = {block, std::to_string(rank)};
      }
    }
    for (std::size_t round = 0; round < all_.rounds.size(); ++round) {
      if (!play(all_.rounds[round])) return false;
    }
    return !is_broken_ && has_results(ordered);
  }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  /// The contents of a block: contributions with parentheses.
  struct words {
    int block = 0;
    std::string text{};
  };

  bool has(hccl::place where, int rank, int block) const {
    return hccl::holds(collective_, where, rank, block, all_.blocks, all_.ranks);
  }

  words& memory(int rank, hccl::place where, int block) {
    if (!has(where, rank, block)) is_broken_ = true;
    const bool is_input = in_place_ && where == hccl::place::output && has(hccl::place::input, rank, block);
    const std::size_t place = is_input ? 0 : static_cast<std::size_t>(where);
    return memory_[(index(rank) * 3 + place) * index(all_.blocks) + index(block)];
  }

  std::deque<std::vector<words>>& queue(int from, int to) { return queues_[index(from * all_.ranks + to)]; }

  /// The steps of a rank that are still to be done, in order of emission.
  using steps = std::vector<const hccl::step*>;

  struct event {
    int rank;
    std::size_t position;  // among the steps left
  };

  bool play(const std::vector<std::vector<hccl::step>>& round) {
    std::vector<steps> left(round.size());
    for (std::size_t rank = 0; rank < round.size(); ++rank) {
      for (const hccl::step& s : round[rank]) left[rank].push_back(&s);
    }
    while (std::any_of(left.begin(), left.end(), [](const steps& own) { return !own.empty(); })) {
      std::vector<event> sends, arrivals;
      for (int rank = 0; rank < all_.ranks; ++rank) {
        const steps& own = left[index(rank)];
        for (std::size_t k = 0; k < own.size(); ++k) {
          if (may_run(rank, own, k))
            (own[k]->what == hccl::action::send ? sends : arrivals).push_back({rank, k});
        }
      }
      if (sends.empty() && arrivals.empty()) return false;
      const bool send =
          arrivals.empty() || (!sends.empty() && (first_ == preference::sends ||
                                                  (first_ == preference::chance && random_() % 2 == 0)));
      const std::vector<event>& ready = send ? sends : arrivals;
      const event next = ready[first_ == preference::chance ? random_() % ready.size() : 0];
      steps& own = left[index(next.rank)];
      const hccl::step& s = *own[next.position];
      own.erase(own.begin() + static_cast<std::ptrdiff_t>(next.position));
      if (send) {
        queue(next.rank, s.peer).push_back(taken(next.rank, s));
      } else if (!arrive(next.rank, s, own)) {
        return false;
      }
    }
    return std::all_of(queues_.begin(), queues_.end(), [](const auto& q) { return q.empty(); });
  }

  /// Messages to one peer leave in order, but one to oneself is read when it arrives. An arrival waits for its
  /// message, for those before it from the same peer, and for those with a common block.
  bool may_run(int rank, const steps& own, std::size_t k) {
    const hccl::step& s = *own[k];
    const bool is_send = s.what == hccl::action::send;
    if (is_send ? s.peer == rank : s.peer != rank && queue(s.peer, rank).empty()) return false;
    return std::none_of(
        own.begin(), own.begin() + static_cast<std::ptrdiff_t>(k), [&](const hccl::step* before) {
          if ((before->what == hccl::action::send) != is_send) return false;
          return before->peer == s.peer || (!is_send && share_block(before->blocks, s.blocks));
        });
  }

  bool share_block(const hccl::block_set& a, const hccl::block_set& b) const {
    for (int i = 0; i < a.count; ++i) {
      for (int k = 0; k < b.count; ++k) {
        if (a.at(i, all_.blocks) == b.at(k, all_.blocks)) return true;
      }
    }
    return false;
  }

  std::vector<words> taken(int rank, const hccl::step& send) {
    std::vector<words> message;
    for (int k = 0; k < send.blocks.count; ++k)
      message.push_back(memory(rank, send.from, send.blocks.at(k, all_.blocks)));
    return message;
  }

  /// Does an arrival; `left` are the other steps that the rank has still to do.
  bool arrive(int rank, const hccl::step& s, steps& left) {
    if (s.peer != rank) {
      const std::vector<words> message = queue(s.peer, rank).front();
      queue(s.peer, rank).pop_front();
      if (static_cast<int>(message.size()) != s.blocks.count) return false;
      for (int k = 0; k < s.blocks.count; ++k) store(rank, s, k, message[index(k)]);
      return true;
    }
    const auto send = std::find_if(left.begin(), left.end(), [&](const hccl::step* other) {
      return other->what == hccl::action::send && other->peer == rank;
    });
    if (send == left.end() || (*send)->blocks.count != s.blocks.count) return false;
    for (int k = 0; k < s.blocks.count; ++k)  // one after the other
      store(rank, s, k, words(memory(rank, (*send)->from, (*send)->blocks.at(k, all_.blocks))));
    left.erase(send);
    return true;
  }

  void store(int rank, const hccl::step& s, int k, words arriving) {
    const int block = s.blocks.at(k, all_.blocks);
    if (s.what != hccl::action::receive) {
      const words stored = memory(rank, s.from, block);
      const words& left = s.what == hccl::action::reduce ? stored : arriving;
      const words& right = s.what == hccl::action::reduce ? arriving : stored;
      const bool is_sound = left.block == right.block && !left.text.empty() && !right.text.empty();
      arriving = {stored.block, is_sound ? "(" + left.text + " " + right.text + ")" : "?"};
    }
    if (s.to == hccl::place::input) is_broken_ = true;
    memory(rank, s.to, block) = arriving;
  }

  bool has_results(bool ordered) {
    for (int block = 0; block < all_.blocks; ++block) {
      std::string common;
      for (int rank = 0; rank < all_.ranks; ++rank) {
        if (!has(hccl::place::output, rank, block)) continue;
        const words& result = memory(rank, hccl::place::output, block);
        if (!is_result(result, rank, block, ordered)) return false;
        if (hccl::Transposing<C> || hccl::Scanning<C>) continue;
        if (!common.empty() && common != result.text) return false;
        common = result.text;
      }
    }
    return true;
  }

  bool is_result(const words& result, int rank, int block, bool ordered) const {
    const int share = all_.blocks / all_.ranks;  // of the collectives that have one
    if constexpr (hccl::Transposing<C>) {
      return result.block == rank * share + block % share && result.text == std::to_string(block / share);
    } else {
      if (result.block != block) return false;
      if constexpr (hccl::Rooted<C> && !std::same_as<C, hccl::Reduce> && !std::same_as<C, hccl::Gather>)
        return result.text == std::to_string(collective_.root);
      if constexpr (std::same_as<C, hccl::AllGather> || std::same_as<C, hccl::Gather>)
        return result.text == std::to_string(block / share);
      const int last = std::same_as<C, hccl::Scan>     ? rank
                       : std::same_as<C, hccl::ExScan> ? rank - 1
                                                       : all_.ranks - 1;
      std::string expected, found;
      for (int r = 0; r <= last; ++r) expected += std::to_string(r);
      for (const char c : result.text) {
        if (c != '(' && c != ' ' && c != ')') found += c;
      }
      if (!ordered) std::sort(found.begin(), found.end());
      return found == expected;
    }
  }

  const recording& all_;
  C collective_;
  bool in_place_;
  preference first_;
  std::mt19937 random_;
  bool is_broken_ = false;  // memory was touched that is not there
  std::vector<words> memory_;
  std::vector<std::deque<std::vector<words>>> queues_;  // from each rank to each
};

/// Runs a schedule apart and in place, in several orders. Tells whether all runs were right.
template <class C>
bool is_right(const recording& all, const C& c, bool ordered) {
  for (const bool in_place : {false, true}) {
    if (in_place && hccl::Transposing<C>) continue;
    for (const preference first : {preference::sends, preference::arrivals}) {
      if (!naive_run<C>(all, c, in_place, first, 0).is_right(ordered)) return false;
    }
    for (unsigned seed = 1; seed <= 3; ++seed) {
      if (!naive_run<C>(all, c, in_place, preference::chance, seed).is_right(ordered)) return false;
    }
  }
  return true;
}

}  // namespace hccl_test
