// SPDX-License-Identifier: Apache-2.0
#pragma once

// A schedule as a table that a test can change.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/view.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace hccl_test {

/// All steps of a schedule.
struct recording {
  int ranks = 0;
  int blocks = 0;
  std::vector<std::vector<std::vector<hccl::step>>> rounds;  // of each round those of each rank

  std::vector<hccl::step>& at(int round, int rank) {
    return rounds[static_cast<std::size_t>(round)][static_cast<std::size_t>(rank)];
  }
  const std::vector<hccl::step>& at(int round, int rank) const {
    return const_cast<recording&>(*this).at(round, rank);
  }
};

/// Takes down A's schedule for C over g.
template <class A, class C>
recording record(const C& c, const hccl::group& g) {
  const auto schedule = hccl::schedule_view::of<A>(c, g);
  recording all{g.size(), schedule.blocks(), {}};
  for (int round = 0; round < schedule.rounds(); ++round) {
    auto& steps = all.rounds.emplace_back(static_cast<std::size_t>(g.size()));
    for (int rank = 0; rank < g.size(); ++rank) {
      schedule.steps(rank, round,
                     [&](const hccl::step& s) { steps[static_cast<std::size_t>(rank)].push_back(s); });
    }
  }
  return all;
}

/// The algorithm that does what `now` says.
template <bool KeepsOrder>
struct Recorded {
  static constexpr std::string_view name = "recorded";
  static inline const recording* now = nullptr;

  static constexpr bool keeps_order(const auto&) { return KeepsOrder; }
  static int blocks(const auto&, const hccl::group&) { return now->blocks; }
  static int rounds(const auto&, const hccl::group&) { return static_cast<int>(now->rounds.size()); }
  static void steps(const auto&, const hccl::group&, int self, int round, auto&& emit) {
    for (const hccl::step& s : now->at(round, self)) emit(s);
  }
};

}  // namespace hccl_test
