// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inputs that differ by rank, round and position, and what a collective makes of them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

namespace perf {

/// A vector without end: a period of small values, which moves on by one from each period to the next.
template <class T>
class pattern {
 public:
  static constexpr std::size_t period = 1024;

  /// `value(j)`: the element at place j of the period.
  explicit pattern(auto&& value) {
    for (std::size_t j = 0; j < twice_.size(); ++j) twice_[j] = value(j % period);
  }

  T at(std::size_t place) const { return twice_[place]; }

  /// Calls `f(begin of a run, elements of it)` for the elements from `offset` on.
  void for_each_run(std::size_t offset, std::size_t count, auto&& f) const {
    for (std::size_t done = 0; done < count;) {
      const std::size_t i = offset + done, turn = i / period, in_turn = i % period;
      const std::size_t size = std::min(count - done, period - in_turn);
      f(done, std::span(twice_).subspan(turn % period + in_turn, size));
      done += size;
    }
  }

  void write(std::span<T> to, std::size_t offset = 0) const {
    for_each_run(offset, to.size(), [&](std::size_t at, std::span<const T> run) {
      std::memcpy(to.data() + at, run.data(), run.size_bytes());
    });
  }

  /// Counts what differs.
  std::size_t wrong(std::span<const T> found, std::size_t offset = 0) const {
    std::size_t sum = 0;
    for_each_run(offset, found.size(), [&](std::size_t at, std::span<const T> run) {
      for (std::size_t i = 0; i < run.size(); ++i) sum += found[at + i] == run[i] ? 0 : 1;
    });
    return sum;
  }

 private:
  std::array<T, 2 * period> twice_;
};

/// What a rank puts in. The values are so small that sums and products of 16 ranks are exact in every type.
template <class T>
pattern<T> input_of(int rank, int round, bool multiplies) {
  return pattern<T>([=](std::size_t j) {
    const std::size_t mixed = j * 5 + static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(round);
    return static_cast<T>(static_cast<float>(multiplies ? 1 + (mixed % 8 == 0) : mixed % 7));
  });
}

/// Reads all bytes.
template <class T>
void read_all(std::span<const T> memory) {
  const auto bytes = std::as_bytes(memory);
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    sum += word;
  }
  for (; i < bytes.size(); ++i) sum += static_cast<std::uint64_t>(bytes[i]);
  asm volatile("" : : "r"(sum) : "memory");
}

}  // namespace perf
