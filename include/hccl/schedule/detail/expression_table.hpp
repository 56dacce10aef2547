// SPDX-License-Identifier: Apache-2.0
#pragma once

// Symbolic contents of blocks.

#include <hccl/schedule/detail/sequence.hpp>
#include <hccl/schedule/verdict.hpp>

#include <cstdint>

namespace hccl::inline v0::detail {

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

}  // namespace hccl::inline v0::detail
