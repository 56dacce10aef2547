// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shows how far an epoch is: a bar on a terminal, a line for each tenth elsewhere.

#include "network.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

namespace train {

/// Adds up the time spent in the calls that it is given.
class Stopwatch {
 public:
  using clock = std::chrono::steady_clock;

  template <class F>
  void time(F&& call) {
    const auto start = clock::now();
    std::forward<F>(call)();
    total_ += clock::now() - start;
  }

  double seconds() const { return std::chrono::duration<double>(total_).count(); }

 private:
  clock::duration total_{};
};

/// The state of one epoch. The score is that of the images this rank has seen; images counts those of all
/// ranks.
class Progress {
 public:
  Progress(std::string title, std::size_t images) : title_(std::move(title)), images_(images) {}

  /// Draws, unless that would be too often.
  void update(std::size_t done, const Score& score, const Stopwatch& communication) {
    const std::size_t tenth = 10 * done / images_;
    const bool due = on_terminal_ ? done == images_ || clock::now() - drawn_ > std::chrono::milliseconds(100)
                                  : tenth > tenth_;
    if (!due) return;
    drawn_ = clock::now();
    tenth_ = tenth;

    const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
    const std::string bar(bar_width * done / images_, '#');
    fmt::print(
        "{}{} [{:.<{}}] {:3} %  loss {:.3f}  accuracy {:.1f} %  {:.0f} images/s  communication {:.1f} %{}",
        on_terminal_ ? "\r\033[K" : "", title_, bar, bar_width, 100 * done / images_,
        score.loss / score.images, 100 * score.correct / score.images, static_cast<double>(done) / seconds,
        100 * communication.seconds() / seconds, on_terminal_ && done < images_ ? "" : "\n");
    std::fflush(stdout);
  }

 private:
  using clock = Stopwatch::clock;
  static constexpr std::size_t bar_width = 20;

  std::string title_;
  std::size_t images_;
  bool on_terminal_ = ::isatty(STDOUT_FILENO) != 0;
  clock::time_point start_ = clock::now(), drawn_ = start_;
  std::size_t tenth_ = 0;
};

}  // namespace train
