// SPDX-License-Identifier: Apache-2.0

// The verifier is put to the test, systematically: one thing is changed in a right schedule, at every place, and
// what `verify` still accepts must be right when it is run.

#include "schedule/naive_run.hpp"
#include "schedule/proven.hpp"
#include "schedule/recording.hpp"
#include "test.hpp"

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/schedule/verify.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace {

using hccl::action;
using hccl::group;
using hccl::place;
using hccl::step;
using hccl_test::recording;

/// A step of a recording.
struct position {
  int round, rank, index;
};

step& step_at(recording& all, const position& p) {
  return all.at(p.round, p.rank)[static_cast<std::size_t>(p.index)];
}

step removed(recording& all, const position& p) {
  auto& steps = all.at(p.round, p.rank);
  const step s = step_at(all, p);
  steps.erase(steps.begin() + p.index);
  return s;
}

/// Moves a step to the end of another round. Tells whether there is one: one more at the end there is.
bool move_step(recording& all, const position& p, int round) {
  if (round < 0) return false;
  if (round == static_cast<int>(all.rounds.size()))
    all.rounds.emplace_back(static_cast<std::size_t>(all.ranks));
  all.at(round, p.rank).push_back(removed(all, p));
  return true;
}

/// The arrival of the message that a step sends, which must be one.
position arrival_of(recording& all, const position& p) {
  const step sent = step_at(all, p);
  const auto& own = all.at(p.round, p.rank);
  const auto before = std::count_if(own.begin(), own.begin() + p.index, [&](const step& s) {
    return s.what == action::send && s.peer == sent.peer;
  });
  const auto& theirs = all.at(p.round, sent.peer);
  position q{p.round, sent.peer, 0};
  for (auto k = before;; ++q.index) {
    const step& s = theirs[static_cast<std::size_t>(q.index)];
    if (s.what != action::send && s.peer == p.rank && k-- == 0) return q;
  }
}

place next_place(place where, int turns) { return static_cast<place>((static_cast<int>(where) + turns) % 3); }

bool is_send(const step& s) { return s.what == action::send; }
bool reduces(const step& s) { return s.what == action::reduce || s.what == action::reduce_front; }

bool take_other_block(recording& all, const position& p) {
  step& s = step_at(all, p);
  s.blocks.first = (s.blocks.first + 1) % all.blocks;
  return all.blocks > 1;
}

bool turn_places(recording& all, const position& p, bool from, int turns) {
  step& s = step_at(all, p);
  if (from ? s.what == action::receive : is_send(s)) return false;
  (from ? s.from : s.to) = next_place(from ? s.from : s.to, turns);
  return true;
}

/// One way to change a schedule at a step. `change` tells whether it applies there.
struct mutation {
  const char* name;
  bool (*change)(recording&, const position&);
};

constexpr std::array mutations{
    mutation{"a step is missing", [](recording& all, const position& p) { return removed(all, p), true; }},
    mutation{"a step is done twice",
             [](recording& all, const position& p) {
               return all.at(p.round, p.rank).push_back(step_at(all, p)), true;
             }},
    mutation{"a step takes the next block", take_other_block},
    mutation{"the blocks of a step are in reverse order",
             [](recording& all, const position& p) {
               step& s = step_at(all, p);
               if (s.blocks.count < 2 || !(s.blocks.is_run() || s.blocks.width == 1)) return false;
               const int stride = s.blocks.width == 1 ? s.blocks.stride : 1;
               s.blocks = {s.blocks.at(s.blocks.count - 1, all.blocks), s.blocks.count, -stride};
               return true;
             }},
    mutation{"a step names the next peer",
             [](recording& all, const position& p) {
               step& s = step_at(all, p);
               s.peer = (s.peer + 1) % all.ranks;
               return true;
             }},
    mutation{"a step is one round late",
             [](recording& all, const position& p) { return move_step(all, p, p.round + 1); }},
    mutation{"a step is one round early",
             [](recording& all, const position& p) { return move_step(all, p, p.round - 1); }},
    mutation{"a reduction is a receive",
             [](recording& all, const position& p) {
               step& s = step_at(all, p);
               return reduces(s) && (s.what = action::receive, s.from = s.to, true);
             }},
    mutation{"operands are swapped",
             [](recording& all, const position& p) {
               step& s = step_at(all, p);
               const bool applies = reduces(s);
               if (applies) s.what = s.what == action::reduce ? action::reduce_front : action::reduce;
               return applies;
             }},
    mutation{"a step reads another place",
             [](recording& all, const position& p) { return turn_places(all, p, true, 1); }},
    mutation{"a step reads the third place",
             [](recording& all, const position& p) { return turn_places(all, p, true, 2); }},
    mutation{"a step writes another place",
             [](recording& all, const position& p) { return turn_places(all, p, false, 1); }},
    mutation{"a step writes the third place",
             [](recording& all, const position& p) { return turn_places(all, p, false, 2); }},
    mutation{"two steps change places",
             [](recording& all, const position& p) {
               auto& steps = all.at(p.round, p.rank);
               if (p.index + 1 == static_cast<int>(steps.size())) return false;
               std::swap(step_at(all, p), steps[static_cast<std::size_t>(p.index) + 1]);
               return true;
             }},
    mutation{"a message is missing",
             [](recording& all, const position& p) {
               if (!is_send(step_at(all, p))) return false;
               const position q = arrival_of(all, p);
               removed(all, q);
               removed(all, {p.round, p.rank, p.index - (q.rank == p.rank && q.index < p.index ? 1 : 0)});
               return true;
             }},
    mutation{"a message is one round late",
             [](recording& all, const position& p) {
               if (!is_send(step_at(all, p)) || step_at(all, p).peer == p.rank) return false;
               const position q = arrival_of(all, p);
               return move_step(all, q, p.round + 1) && move_step(all, p, p.round + 1);
             }},
    mutation{"a message is one round early",
             [](recording& all, const position& p) {
               if (!is_send(step_at(all, p)) || step_at(all, p).peer == p.rank || p.round == 0) return false;
               const position q = arrival_of(all, p);
               return move_step(all, q, p.round - 1) && move_step(all, p, p.round - 1);
             }},
    mutation{"a message holds the next block",
             [](recording& all, const position& p) {
               if (!is_send(step_at(all, p))) return false;
               return take_other_block(all, arrival_of(all, p)) && take_other_block(all, p);
             }},
};

std::vector<position> positions_of(const recording& all) {
  std::vector<position> positions;
  for (int round = 0; round < static_cast<int>(all.rounds.size()); ++round) {
    for (int rank = 0; rank < all.ranks; ++rank) {
      for (int index = 0; index < static_cast<int>(all.at(round, rank).size()); ++index)
        positions.push_back({round, rank, index});
    }
  }
  return positions;
}

/// What became of the mutants.
struct tally {
  int mutants = 0;
  int rejected = 0;
  int equivalent = 0;  // accepted, and right
  int wrongly_accepted = 0;
  int sampled = 0;  // of the rejected
  int sampled_wrong = 0;
};

using tallies = std::array<tally, mutations.size()>;

constexpr int most_positions = 300;  // of a schedule; with more, every second, third, ...
constexpr int sample_distance = 64;  // between those rejected mutants that are run too

template <class A, class C>
void mutate(const group& g, const C& c, tallies& sums) {
  constexpr bool ordered = hccl::keeps_order<hccl::schedule_of<A, C>, C>;
  using Mutant = hccl_test::Recorded<ordered>;
  const recording original = hccl_test::record<A>(c, g);
  recording mutant = original;
  Mutant::now = &mutant;
  REQUIRE(hccl::verify<Mutant>(group(g.size()), c));
  const std::vector<position> positions = positions_of(original);
  const std::size_t stride = (positions.size() + most_positions - 1) / most_positions;
  for (std::size_t m = 0; m < mutations.size(); ++m) {
    tally& sum = sums[m];
    for (std::size_t k = 0; k < positions.size(); k += stride) {
      const position& p = positions[k];
      mutant = original;
      if (!mutations[m].change(mutant, p)) continue;
      ++sum.mutants;
      const bool accepted = static_cast<bool>(hccl::verify<Mutant>(group(g.size()), c));
      sum.rejected += accepted ? 0 : 1;
      const bool sampled = !accepted && sum.rejected % sample_distance == 1;
      if (!accepted && !sampled) continue;
      const bool right = hccl_test::is_right(mutant, c, ordered);
      sum.sampled += sampled ? 1 : 0;
      sum.sampled_wrong += sampled && !right ? 1 : 0;
      sum.equivalent += accepted && right ? 1 : 0;
      if (!accepted || right) continue;
      ++sum.wrongly_accepted;
      INFO(A::name << ", " << C::name << " from " << hccl::root_of(c) << ", " << g.size()
                   << " ranks: " << mutations[m].name << ": round " << p.round << ", rank " << p.rank
                   << ", step " << p.index);
      CHECK(!accepted);
    }
  }
}

/// Calls `f(group)` with groups of 2, 3, 4, 5 and 8 ranks, on two hosts where there are three.
void for_each_group(auto&& f) {
  for (const int n : {2, 3, 4, 5, 8}) {
    const hccl::topology hosts(n < 3 ? std::vector<std::vector<int>>{}
                                     : std::vector<std::vector<int>>{{n - n / 3, n / 3}});
    f(group(n, hosts));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a naive run of every schedule is right", "", hccl::algorithms) {
  int runs = 0;
  for_each_group([&](const group& g) {
    hccl_test::for_each_offered<TestType>([&]<class C>() {
      for (const C& c : hccl_test::rooted_at<C>(hccl_test::every_root(g))) {
        constexpr bool ordered = hccl::keeps_order<hccl::schedule_of<TestType, C>, C>;
        INFO(TestType::name << ", " << C::name << " from " << hccl::root_of(c) << ", " << g.size()
                            << " ranks");
        CHECK(hccl_test::is_right(hccl_test::record<TestType>(c, g), c, ordered));
        ++runs;
      }
    });
  });
  CHECK(runs >= 5);
}

TEMPLATE_LIST_TEST_CASE("no mutant of a schedule is accepted that is wrong", "", hccl::algorithms) {
  tallies sums;
  for_each_group([&](const group& g) {
    hccl_test::for_each_offered<TestType>([&]<class C>() {
      for (const C& c : hccl_test::rooted_at<C>({g.size() - 1})) mutate<TestType>(g, c, sums);
    });
  });
  tally all;
  for (std::size_t m = 0; m < mutations.size(); ++m) {
    const tally& sum = sums[m];
    INFO(TestType::name << ": " << mutations[m].name << ": " << sum.mutants << " mutants, " << sum.rejected
                        << " rejected, " << sum.equivalent << " equivalent; of " << sum.sampled
                        << " rejected ones " << sum.sampled_wrong << " are wrong when run");
    CHECK(sum.wrongly_accepted == 0);
    CHECK(sum.rejected + sum.equivalent == sum.mutants);
    all.mutants += sum.mutants;
    all.rejected += sum.rejected;
    all.sampled += sum.sampled;
    all.sampled_wrong += sum.sampled_wrong;
  }
  CHECK(all.rejected > all.mutants * 8 / 10);
  CHECK(all.sampled_wrong > all.sampled * 8 / 10);
}
