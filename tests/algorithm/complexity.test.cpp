// SPDX-License-Identifier: Apache-2.0

// Rounds, messages and blocks are counted from schedules and compared with the published formulas, for every number of
// ranks from 2 to 64.

#include "test.hpp"

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/hierarchical.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/schedule/view.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ostream>
#include <set>
#include <vector>

using namespace hccl;  // the names of all algorithms and collectives

namespace {

/// What a schedule takes. Of messages, blocks sent and blocks combined, those of the rank that has the most. Copies of a
/// rank to itself are no messages.
struct figures {
  int rounds = 0, messages = 0, sent = 0, combined = 0;

  friend bool operator==(const figures&, const figures&) = default;
  friend std::ostream& operator<<(std::ostream& out, const figures& f) {
    return out << f.rounds << " rounds, " << f.messages << " messages, " << f.sent << " sent, " << f.combined
               << " combined";
  }
};

/// Calls `f(round, rank, step)` for all sends of a schedule to other ranks.
void for_each_message(const schedule_view& schedule, auto&& f) {
  for (int round = 0; round < schedule.rounds(); ++round) {
    for (int rank = 0; rank < schedule.ranks().size(); ++rank) {
      schedule.steps(rank, round, [&](const step& s) {
        if (s.what == action::send && s.peer != rank) f(round, rank, s);
      });
    }
  }
}

figures counted(const schedule_view& schedule) {
  const auto ranks = static_cast<std::size_t>(schedule.ranks().size());
  std::vector<int> messages(ranks), sent(ranks), combined(ranks);
  for_each_message(schedule, [&](int, int rank, const step& s) {
    messages[static_cast<std::size_t>(rank)] += 1;
    sent[static_cast<std::size_t>(rank)] += s.blocks.count;
  });
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (int round = 0; round < schedule.rounds(); ++round) {
      schedule.steps(static_cast<int>(rank), round, [&](const step& s) {
        if (s.what == action::reduce || s.what == action::reduce_front) combined[rank] += s.blocks.count;
      });
    }
  }
  return {schedule.rounds(), std::ranges::max(messages), std::ranges::max(sent), std::ranges::max(combined)};
}

template <class A, class C>
figures counted(int ranks, const C& c = {}) {
  return counted(schedule_view::of<A>(c, group(ranks)));
}

int floor_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }
int ceil_log2(int n) { return n < 2 ? 0 : floor_log2(n - 1) + 1; }
bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

/// Calls `f(n)` for 2 to 64 ranks, `f(n, root)` for three roots each.
void for_each_size(auto&& f) {
  for (int n = 2; n <= 64; ++n) {
    INFO(n << " ranks");
    f(n);
  }
}
void for_each_root(auto&& f) {
  for_each_size([&](int n) {
    for (const int root : std::set{0, n / 2, n - 1}) {
      INFO("root " << root);
      f(n, root);
    }
  });
}

/// The figures of A's reduce-scatter, allgather and allreduce of n blocks, when the first takes `rounds` rounds with
/// `messages` messages and sends and combines n - 1 blocks.
template <class A>
void check_optimal_in_bytes(int n, int rounds, int messages) {
  CHECK(counted<A, ReduceScatter>(n) == figures{rounds, messages, n - 1, n - 1});
  CHECK(counted<A, AllGather>(n) == figures{rounds, messages, n - 1, 0});
  CHECK(counted<A, AllReduce>(n) == figures{2 * rounds, 2 * messages, 2 * (n - 1), n - 1});
  CHECK(schedule_view::of<A>(AllReduce{}, group(n)).blocks() == n);
}

/// The size of the half of an interval of n ranks that does not have the root.
int other_half(int n, int root) { return root < (n + 1) / 2 ? n / 2 : (n + 1) / 2; }

/// The figures of the halving and doubling of 2^k blocks.
template <class A>
void check_halving_and_doubling(int n) {
  const int bits = floor_log2(n), actors = 1 << bits, folds = n > actors ? 1 : 0;
  CHECK(counted<A, AllReduce>(n) == figures{2 * bits + 2 * folds, 2 * bits + folds,
                                            2 * (actors - 1) + folds * actors, actors - 1 + folds * actors});
  CHECK(schedule_view::of<A>(AllReduce{}, group(n)).blocks() == actors);
}

}  // namespace

TEST_CASE("complexity of Ring") {
  for_each_size([](int n) { check_optimal_in_bytes<Ring>(n, n - 1, n - 1); });
  for_each_root([](int n, int root) {
    CHECK(counted<Ring>(n, Scatter{root}) == figures{n - 1, n - 1, n - 1, 0});
    CHECK(counted<Ring>(n, Gather{root}) == figures{n - 1, n - 1, n - 1, 0});
    CHECK(counted<Ring>(n, Reduce{root}) == figures{2 * (n - 1), 2 * (n - 1), 2 * (n - 1), n - 1});
    CHECK(counted<Ring>(n, Broadcast{root}) == figures{2 * (n - 1), 2 * (n - 1), 2 * (n - 1), 0});
  });
}

TEST_CASE("complexity of Mesh, OneShotMesh, Star and Reproducible") {
  for_each_size([](int n) {
    check_optimal_in_bytes<Mesh>(n, 1, n - 1);
    CHECK(counted<Mesh, AllToAll>(n) == figures{1, n - 1, n - 1, 0});
    CHECK(counted<Mesh, AllToAllV>(n) == figures{1, n - 1, n - 1, 0});
    CHECK(counted<OneShotMesh, AllReduce>(n) ==
          figures{2, n - 1, n - 1, n - 1});  // of one block; the second is local
    CHECK(counted<OneShotMesh, ReduceScatter>(n) == figures{1, n - 1, n - 1, n - 1});
    CHECK(counted<Star, AllReduce>(n) == figures{2, n - 1, n - 1, n - 1});  // of one block
    CHECK(counted<Reproducible, AllReduce>(n) == figures{2, 2 * (n - 1), 2 * (n - 1), n - 1});
    CHECK(counted<Reproducible, ReduceScatter>(n) == figures{2, n - 1, n - 1, n - 1});  // the second is local
  });
  for_each_root([](int n, int root) {
    CHECK(counted<Mesh>(n, Scatter{root}) == figures{1, n - 1, n - 1, 0});
    CHECK(counted<Mesh>(n, Gather{root}) == figures{1, 1, 1, 0});
    CHECK(counted<Mesh>(n, Broadcast{root}) == figures{2, 2 * (n - 1), 2 * (n - 1), 0});
    CHECK(counted<Mesh>(n, Reduce{root}) == figures{2, n, n, n - 1});
    CHECK(counted<OneShotMesh>(n, Reduce{root}) == figures{1, 1, 1, n - 1});
    CHECK(counted<OneShotMesh>(n, Broadcast{root}) == figures{1, n - 1, n - 1, 0});
    CHECK(counted<Star>(n, Reduce{root}) == figures{1, 1, 1, n - 1});
    CHECK(counted<Star>(n, Broadcast{root}) == figures{1, n - 1, n - 1, 0});
    CHECK(counted<Star>(n, Scatter{root}) == figures{1, n - 1, n - 1, 0});
    CHECK(counted<Star>(n, Gather{root}) == figures{1, 1, 1, 0});
    CHECK(counted<Reproducible>(n, Reduce{root}) == figures{2, n, n, n - 1});
  });
}

TEST_CASE("complexity of RecursiveHalvingDoubling and Swing") {
  for_each_size([](int n) {
    check_halving_and_doubling<RecursiveHalvingDoubling>(n);
    check_halving_and_doubling<Swing>(n);
    const int bits = floor_log2(n), folds = is_power_of_two(n) ? 0 : 1;
    CHECK(counted<RecursiveHalvingDoubling, ReduceScatter>(n).rounds == bits + 2 * folds);
    CHECK(counted<RecursiveHalvingDoubling, AllGather>(n).rounds == bits + 2 * folds);
    if (folds > 0) return;
    CHECK(counted<RecursiveHalvingDoubling, ReduceScatter>(n) == figures{bits, bits, n - 1, n - 1});
    CHECK(counted<RecursiveHalvingDoubling, AllGather>(n) == figures{bits, bits, n - 1, 0});
  });
  for_each_root([](int n, int root) {
    const int bits = floor_log2(n), pairs = n - (1 << bits);
    const bool acts = root >= 2 * pairs || root % 2 == 1;
    const int rounds = 2 * bits + (pairs > 0 ? 1 : 0) + (acts ? 0 : 1);
    CHECK(counted<RecursiveHalvingDoubling>(n, Reduce{root}).rounds == rounds);
    CHECK(counted<RecursiveHalvingDoubling>(n, Broadcast{root}).rounds == rounds);
    if (pairs > 0) return;
    CHECK(counted<RecursiveHalvingDoubling>(n, Reduce{root}) ==
          figures{2 * bits, bits + 1, n - 1 + n / 2, n - 1});
    CHECK(counted<RecursiveHalvingDoubling>(n, Broadcast{root}) ==
          figures{2 * bits, 2 * bits, 2 * (n - 1), 0});
  });
}

TEST_CASE("Swing's partners in round k are at most (2^(k+1) + 1) / 3 apart") {
  for (int n = 2; n <= 64; n *= 2) {
    int farthest = 0;
    for_each_message(schedule_view::of<Swing>(AllReduce{}, group(n)),
                     [&](int round, int rank, const step& s) {
                       const int ahead = group(n).wrap(s.peer - rank);
                       const int distance = std::min(ahead, n - ahead);
                       const int k = std::min(round, 2 * floor_log2(n) - 1 - round);
                       CHECK(3 * distance <= (2 << k) + 1);
                       farthest = std::max(farthest, distance);
                     });
    CHECK(3 * farthest >= n / 2);
  }
}

TEST_CASE("complexity of RecursiveDoubling") {
  for_each_size([](int n) {
    const int bits = floor_log2(n), folds = is_power_of_two(n) ? 0 : 1;
    const int last = folds == 1 || bits % 2 == 1 ? 1 : 0;  // to unfold, or a copy
    CHECK(counted<RecursiveDoubling, AllReduce>(n) ==
          figures{folds + bits + last, bits + folds, bits + folds, bits + folds});
    const int all = ceil_log2(n), but_first = ceil_log2(n - 1);
    CHECK(counted<RecursiveDoubling, Scan>(n) == figures{all + 1, all, all, all});  // one round of copies
    CHECK(counted<RecursiveDoubling, ExScan>(n) ==
          figures{but_first + 2, but_first + 1, but_first + 1, but_first});
    CHECK(schedule_view::of<RecursiveDoubling>(AllReduce{}, group(n)).blocks() == 1);
  });
}

TEMPLATE_TEST_CASE("complexity of NHR and NonuniformBruck", "", NHR, NonuniformBruck) {
  for_each_size([](int n) {
    const int rounds = ceil_log2(n);
    for (int round = 0; round < rounds; ++round) {
      int sent = 0;
      const auto schedule = schedule_view::of<TestType>(ReduceScatter{}, group(n));
      schedule.steps(0, round, [&](const step& s) { sent += s.what == action::send ? s.blocks.count : 0; });
      CHECK(sent == (n - 1 + (1 << round)) / (2 << round));
    }
    const figures found = counted<TestType, ReduceScatter>(n);
    CHECK(found == figures{rounds, found.messages, n - 1, n - 1});
    CHECK(found.messages >= rounds);
    CHECK(found.messages <= 2 * rounds);
    check_optimal_in_bytes<TestType>(n, rounds, found.messages);
  });
  for_each_root([](int n, int root) {
    const int rounds = ceil_log2(n);
    CHECK(counted<TestType>(n, Scatter{root}) == counted<BinomialTree>(n, Scatter{root}));
    CHECK(counted<TestType>(n, Reduce{root}).rounds == 2 * rounds);
    CHECK(counted<TestType>(n, Reduce{root}).sent == n - 1 + other_half(n, root));
    CHECK(counted<TestType>(n, Broadcast{root}).rounds == 2 * rounds);
    CHECK(counted<TestType>(n, Broadcast{root}).sent == 2 * (n - 1));
  });
}

TEST_CASE("complexity of Bruck and Pairwise") {
  for_each_size([](int n) {
    const int rounds = ceil_log2(n);
    CHECK(counted<Bruck, AllGather>(n) == figures{rounds, rounds, n - 1, 0});
    int hops = 0;  // of the blocks with 0 to n - 1 ranks to go
    for (unsigned way = 0; way < static_cast<unsigned>(n); ++way) hops += std::popcount(way);
    CHECK(counted<Bruck, AllToAll>(n) == figures{2 * rounds + 2, rounds, hops, 0});
    CHECK(2 * hops <= n * rounds);
    CHECK(counted<Pairwise, AllToAll>(n) == figures{n - 1, n - 1, n - 1, 0});
    CHECK(counted<Pairwise, AllToAllV>(n) == figures{n - 1, n - 1, n - 1, 0});
  });
}

TEST_CASE("complexity of BinomialTree") {
  for_each_size([](int n) {
    const int rounds = ceil_log2(n);
    CHECK(counted<BinomialTree>(n, Reduce{0}) == figures{rounds, 1, 1, rounds});
    CHECK(counted<BinomialTree>(n, Broadcast{0}) == figures{rounds, rounds, rounds, 0});
    CHECK(counted<BinomialTree, AllReduce>(n) == figures{2 * rounds, rounds, rounds, rounds});
    CHECK(counted<BinomialTree>(n, Scatter{0}) == figures{rounds, rounds, n - 1, 0});
  });
  for_each_root([](int n, int root) {
    const int rounds = ceil_log2(n);
    CHECK(counted<BinomialTree>(n, Reduce{root}).rounds == rounds);
    CHECK(counted<BinomialTree>(n, Reduce{root}).combined <= rounds);
    CHECK(counted<BinomialTree>(n, Broadcast{root}).sent <= rounds);
    CHECK(counted<BinomialTree>(n, Scatter{root}).sent == n - 1);
    CHECK(counted<BinomialTree>(n, Gather{root}) == figures{rounds, 1, other_half(n, root), 0});
  });
}

TEST_CASE("complexity of DoubleBinaryTree") {
  for_each_root([](int n, int root) {
    const int rounds = floor_log2(n - 1) + 1;
    CHECK(counted<DoubleBinaryTree>(n, Reduce{root}) == figures{rounds, 2, 2, 2});  // halves of the vector
    CHECK(counted<DoubleBinaryTree>(n, Broadcast{root}).rounds == rounds);
  });
}

TEST_CASE("complexity of Pipeline") {
  constexpr int segments = Pipeline::segments;
  for_each_size([](int n) {
    const int rounds = n + segments - 2;
    CHECK(counted<Pipeline, Scan>(n) == figures{rounds, segments, segments, segments});
    const int sent = n == 2 ? segments : 2 * segments;
    const int combined = n == 2 ? 0 : segments;
    CHECK(counted<Pipeline, ExScan>(n) == figures{rounds, n == 2 ? 1 : segments + 1, sent, combined});
    CHECK(counted<Pipeline, AllReduce>(n).rounds == 2 * rounds);
  });
  for_each_root([](int n, int root) {
    const int rounds = std::max(root, n - 1 - root) + segments - 1;
    const int sides = 0 < root && root < n - 1 ? 2 : 1;
    CHECK(counted<Pipeline>(n, Reduce{root}) == figures{rounds, segments, segments, sides * segments});
    CHECK(counted<Pipeline>(n, Broadcast{root}) == figures{rounds, sides * segments, sides * segments, 0});
  });
}

TEST_CASE("complexity of ParallelAggregatedTrees") {
  for_each_size([](int n) {
    const unsigned parts = std::bit_ceil(static_cast<unsigned>((n + 7) / 8));
    const int trees = static_cast<int>(parts);
    const figures found = counted<ParallelAggregatedTrees, ReduceScatter>(n);
    CHECK(found == figures{trees - 1 + ceil_log2((n + trees - 1) / trees), found.messages, n - 1, n - 1});
    for_each_message(
        schedule_view::of<ParallelAggregatedTrees>(AllReduce{}, group(n)),
        [](int, int, const step& s) { CHECK(s.blocks.count <= ParallelAggregatedTrees::aggregation); });
  });
}

TEST_CASE("hierarchies share the bytes between hosts among the ranks of a host") {
  for (const int hosts : {2, 3, 5}) {
    for (const int per_host : {1, 2, 4, 7}) {
      const topology equal({std::vector<int>(static_cast<std::size_t>(hosts), per_host)});
      const group g(hosts * per_host, equal);
      const auto schedule = schedule_view::of<AHC>(AllReduce{}, g);
      CHECK(schedule.rounds() == 2 * (ceil_log2(per_host) + ceil_log2(hosts)));
      std::vector<int> sent(static_cast<std::size_t>(g.size()));
      for_each_message(schedule, [&](int, int rank, const step& s) {
        if (g.host_of(rank) != g.host_of(s.peer)) sent[static_cast<std::size_t>(rank)] += s.blocks.count;
      });
      for (const int blocks : sent) CHECK(blocks * per_host * hosts == 2 * (hosts - 1) * schedule.blocks());
    }
  }
}
