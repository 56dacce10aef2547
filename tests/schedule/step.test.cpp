// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

using hccl::block_set;

namespace {

/// The blocks of a set, one after the other, by stepping round.
std::vector<int> listed(const block_set& set, int blocks) {
  std::vector<int> all;
  int block = set.first;
  for (int k = 0; k < set.count; ++k) {
    while (block < 0) block += blocks;
    while (block >= blocks) block -= blocks;
    all.push_back(block);
    block += set.stride;
  }
  return all;
}

bool share(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

}  // namespace

TEST_CASE("A block set names its blocks modulo the number of blocks") {
  for (int blocks = 1; blocks <= 7; ++blocks) {
    for (int first = -blocks; first <= 2 * blocks; ++first) {
      for (const int stride : {-3, -1, 1, 2, 5}) {
        const block_set set{first, blocks, stride};
        const std::vector<int> expected = listed(set, blocks);
        for (int k = 0; k < set.count; ++k) CHECK(set.at(k, blocks) == expected[static_cast<std::size_t>(k)]);
      }
    }
  }
}

TEST_CASE("The index of a block does not overflow") {
  const block_set set{1, 100'000, 100'000};
  CHECK(set.at(99'999, 1'000'000'007) == 9'999'900'001 % 1'000'000'007);
}

TEST_CASE("Two block sets intersect when they share a block") {
  for (const int blocks : {1, 2, 5, 6}) {
    int wrong = 0;
    for (const int stride : {1, 2, -1}) {
      for (const int other_stride : {1, 3}) {
        for (int first = 0; first < blocks; ++first) {
          for (int other = 0; other < blocks; ++other) {
            for (int count = 0; count <= blocks; ++count) {
              for (int other_count = 0; other_count <= blocks; ++other_count) {
                const block_set a{first, count, stride};
                const block_set b{other, other_count, other_stride};
                const bool expected = share(listed(a, blocks), listed(b, blocks));
                wrong += intersect(a, b, blocks) == expected && intersect(b, a, blocks) == expected ? 0 : 1;
              }
            }
          }
        }
      }
    }
    INFO(blocks << " blocks");
    CHECK(wrong == 0);
  }
}

TEST_CASE("Steps are made by name") {
  using hccl::action;
  using hccl::place;
  CHECK(hccl::send_step(3, {1}, place::scratch) == hccl::step{action::send, 3, {1, 1, 1}, place::scratch, place::scratch});
  CHECK(hccl::receive_step(2, {0, 4}, place::output) == hccl::step{action::receive, 2, {0, 4, 1}, place::output, place::output});
  CHECK(hccl::reduce_step(1, {}, place::input, place::output) ==
        hccl::step{action::reduce, 1, {0, 1, 1}, place::input, place::output});
  CHECK(hccl::reduce_front_step(1, {}, place::input, place::scratch) ==
        hccl::step{action::reduce_front, 1, {0, 1, 1}, place::input, place::scratch});
}
