// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a schedule as those of one that has it as a part.

#include <hccl/schedule/step.hpp>

namespace hccl::inline v0::detail {

/// Blocks side by side.
struct run {
  int first, count;
};

/// Joins runs into as few sets of `blocks` blocks as it takes when they may only grow at their ends. Equal
/// runs in equal order give equal sets, so that the two sides of a message agree.
template <class Take>
class run_joiner {
 public:
  constexpr run_joiner(int blocks, Take take) : blocks_(blocks), take_(take) {}

  constexpr void add(run r) {
    if (r.count == 0) return;
    if (last_.count > 0 && (last_.first + last_.count) % blocks_ == r.first) {
      last_.count += r.count;
    } else {
      close_run();
      last_ = r;
    }
  }

  constexpr void finish() {
    close_run();
    if (set_.count > 0) take_(set_);
  }

 private:
  /// Makes the last run part of the set, or the beginning of another.
  constexpr void close_run() {
    if (last_.count == 0) return;
    const int distance = set_.count == 0 ? 0 : block_set{last_.first - begin_}.at(0, blocks_);
    const bool is_second = set_.count == set_.width;
    if (set_.count > 0 && set_.width == last_.count && (is_second || set_.stride == distance)) {
      set_.stride = distance;
      set_.count += last_.count;
    } else {
      if (set_.count > 0) take_(set_);
      set_ = {last_.first, last_.count, last_.count, last_.count};
    }
    begin_ = last_.first;
  }

  int blocks_;
  Take take_;
  run last_{0, 0};
  block_set set_{0, 0, 0, 0};
  int begin_ = 0;  // of the last run of the set
};

/// Emits a step of a schedule of `blocks` blocks as one of a schedule of `all` blocks, whose run `place_of(b)`
/// is block b.
constexpr void embed(step s, int blocks, int all, auto&& place_of, auto&& emit) {
  const block_set part = s.blocks;
  run_joiner joiner(all, [&](const block_set& set) {
    s.blocks = set;
    emit(s);
  });
  for (int k = 0; k < part.count; ++k) joiner.add(place_of(part.at(k, blocks)));
  joiner.finish();
}

/// Emits a step of a schedule of `blocks` blocks for one in which each of them is cut in `all / blocks`.
constexpr void refine(step s, int blocks, int all, auto&& emit) {
  const int parts = all / blocks;
  s.blocks = {s.blocks.first * parts, s.blocks.count * parts, s.blocks.stride * parts,
              s.blocks.width * parts};
  emit(s);
}

}  // namespace hccl::inline v0::detail
