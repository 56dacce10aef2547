// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/double_binary_tree.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/nhr.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/pipeline.hpp>
#include <hccl/algorithm/recursive_halving_doubling.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/hierarchical.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/schedule/view.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using hccl::AllReduce, hccl::Broadcast, hccl::Reduce, hccl::ReduceScatter, hccl::Scan, hccl::Scatter;
using hccl::BinomialTree, hccl::DoubleBinaryTree, hccl::Hierarchical, hccl::Mesh, hccl::NHR,
    hccl::OneShotMesh;
using hccl::group, hccl::link_model, hccl::price, hccl::topology;
using hccl::Pipeline, hccl::RecursiveHalvingDoubling, hccl::Ring;

namespace {

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

// Links on which only one thing costs time, one second each.
constexpr link_model rounds{1, 0, 0, 0, 0, 0};
constexpr link_model messages{0, 1, 0, 0, 0, 0};
constexpr link_model volume{0, 0, 1, 0, 0, 0};
constexpr link_model reduced{0, 0, 0, 1, 0, 0};
constexpr link_model rounds_between{0, 0, 0, 0, 1, 0};
constexpr link_model between{0, 0, 0, 0, 0, 1};

template <class A, class C = AllReduce>
double count(const link_model& what, const group& g, const C& c = {}) {
  return hccl::price_of<A>(g, what, c).fixed;
}

/// In units of the whole buffer.
template <class A, class C = AllReduce>
double part(const link_model& what, const group& g, const C& c = {}) {
  return hccl::price_of<A>(g, what, c).seconds_per_byte;
}

int ceil_log2(int n) {
  int log = 0;
  while ((1 << log) < n) ++log;
  return log;
}

}  // namespace

TEST_CASE("One rank costs nothing") {
  CHECK(hccl::cost<hccl::Ring, AllReduce>(group{1}, 1e6, hccl::link_model{}) == 0);
}

TEST_CASE("Ring allreduce takes 2(n-1) rounds and 2(n-1)/n of the bytes") {
  for (const int n : {2, 3, 4, 7, 16}) {
    CHECK(near(count<Ring>(rounds, group{n}), 2 * (n - 1)));
    CHECK(near(count<Ring>(messages, group{n}), 2 * (n - 1)));
    CHECK(near(part<Ring>(volume, group{n}), 2.0 * (n - 1) / n));
    CHECK(near(part<Ring>(reduced, group{n}), 1.0 * (n - 1) / n));
  }
}

TEST_CASE("Halving and doubling takes 2 ceil(log2 n) rounds") {
  for (int n = 2; n <= 40; ++n)
    CHECK(near(count<RecursiveHalvingDoubling>(rounds, group{n}), 2 * ceil_log2(n)));
  CHECK(near(part<RecursiveHalvingDoubling>(volume, group{8}), 2.0 * 7 / 8));
}

TEST_CASE("Meshes and trees cost what they are documented to") {
  for (const int n : {2, 5, 8}) {
    CHECK(near(count<Mesh>(rounds, group{n}), 2));
    CHECK(near(part<Mesh>(volume, group{n}), 2.0 * (n - 1) / n));
    CHECK(near(count<OneShotMesh>(rounds, group{n}), 1));
    CHECK(near(part<OneShotMesh>(volume, group{n}), n - 1));
    for (int root = 0; root < n; ++root) {
      CHECK(near(count<BinomialTree>(rounds, group{n}, Reduce{root}), ceil_log2(n)));
      CHECK(near(part<BinomialTree>(volume, group{n}, Reduce{root}), ceil_log2(n)));
    }
  }
}

TEST_CASE("The ranks of a host share its link") {
  const topology hosts({{4, 4}});
  const group eight(8, hosts);
  // Every rank sends half of its input to the other host, which is 4 * 4 of 8 blocks.
  CHECK(near(part<Mesh>(between, eight, ReduceScatter{}), 4 * 4 / 8.0));
  CHECK(near(part<Mesh>(volume, eight, ReduceScatter{}), 3 / 8.0));
  // One block leaves a host in each round of the ring.
  CHECK(near(part<Ring>(between, eight, ReduceScatter{}), 7 / 8.0));
  // Of each host, every rank exchanges a fourth.
  CHECK(near(part<Hierarchical<Mesh, Ring>>(between, eight), 1));
  CHECK(near(count<Hierarchical<Mesh, Ring>>(rounds, eight), 2));
  CHECK(near(count<Hierarchical<Mesh, Ring>>(rounds_between, eight), 2));
  CHECK(near(part<Mesh>(between, group{8}, ReduceScatter{}), 0));
}

TEST_CASE("In a round the dearest link counts") {
  const topology hosts({{2, 2}});
  const group four(4, hosts);
  // A rank sends one block of four to the other rank of its host, and four blocks leave the host.
  const double inside = part<Mesh>({0, 0, 10, 0, 0, 0}, four, ReduceScatter{});
  const double outside = part<Mesh>({0, 0, 0, 0, 0, 1}, four, ReduceScatter{});
  CHECK(near(inside, 10 * 1 / 4.0));
  CHECK(near(outside, 4 / 4.0));
  CHECK(near(part<Mesh>({0, 0, 10, 0, 0, 1}, four, ReduceScatter{}), inside));
  CHECK(near(part<Mesh>({0, 0, 1, 0, 0, 1}, four, ReduceScatter{}), outside));
}

TEST_CASE("The time is the sum of what is priced") {
  const link_model link{.latency = 1, .overhead = 10, .seconds_per_byte = 100, .reduction = 1000};
  const price p = hccl::price_of<Mesh, ReduceScatter>(group{4}, link);
  CHECK(near(p.fixed, 1 + 3 * 10));
  CHECK(near(p.seconds_per_byte, 3 / 4.0 * 100 + 3 / 4.0 * 1000));
  CHECK(near(p.seconds(4), p.fixed + 4 * p.seconds_per_byte));
  CHECK(near(hccl::cost<Mesh, ReduceScatter>(group{4}, 4, link), p.seconds(4)));
  const auto view = hccl::schedule_view::of<Mesh>(ReduceScatter{}, group{4});
  CHECK(near(hccl::price_of(view, link).seconds(4), p.seconds(4)));
}

TEST_CASE("A link between hosts that is not described is as fast as one inside") {
  constexpr link_model link{.latency = 1, .overhead = 2, .seconds_per_byte = 3, .reduction = 4};
  STATIC_REQUIRE(link.host_latency == 1);
  STATIC_REQUIRE(link.host_seconds_per_byte == 3);
}

TEST_CASE("Prices are found at compile time too") {
  STATIC_REQUIRE(hccl::cost<Ring, AllReduce>(group{5}, 1, rounds) == 8);
}

namespace {

/// How many times too low the price is when not all ranks are played.
template <class A, class C>
double shortfall(const group& g, const link_model& link, const C& c) {
  std::vector<int> all(static_cast<std::size_t>(g.size()));
  std::iota(all.begin(), all.end(), 0);
  const auto schedule = hccl::schedule_view::of<A>(c, g);
  const price exact =
      hccl::detail::play_rounds(g, schedule.blocks(), schedule.rounds(), link, all,
                                [&](int self, int round, auto&& take) { schedule.steps(self, round, take); });
  const price found = hccl::price_of(schedule, link);
  return std::max(exact.fixed / found.fixed, exact.seconds_per_byte / found.seconds_per_byte);
}

template <class A>
double shortfall(const group& g, const link_model& link, int root) {
  double worst = 1;
  const auto consider = [&]<class C>(const C& c) {
    if constexpr (hccl::Offers<A, C>) worst = std::max(worst, shortfall<A>(g, link, c));
  };
  consider(AllReduce{});
  consider(ReduceScatter{});
  consider(Broadcast{root});
  consider(Scatter{root});
  consider(Scan{});
  return worst;
}

double shortfall(const group& g, int root) {
  const link_model link{1e-6, 2e-7, 1e-10, 1e-10, 1e-5, 4e-10};
  return std::max({shortfall<Mesh>(g, link, root), shortfall<Ring>(g, link, root),
                   shortfall<RecursiveHalvingDoubling>(g, link, root), shortfall<NHR>(g, link, root),
                   shortfall<BinomialTree>(g, link, root), shortfall<Pipeline>(g, link, root),
                   shortfall<DoubleBinaryTree>(g, link, root),
                   shortfall<Hierarchical<Mesh, Ring>>(g, link, root),
                   shortfall<Hierarchical<Mesh, NHR>>(g, link, root)});
}

/// Hosts of 1 to `most` ranks.
std::vector<int> random_hosts(std::mt19937& random, std::size_t hosts, unsigned most) {
  std::vector<int> sizes;
  while (sizes.size() < hosts) sizes.push_back(1 + static_cast<int>(random() % most));
  return sizes;
}

}  // namespace

TEST_CASE("Up to 64 ranks the price is that of playing all") {
  for (const int n : {2, 3, 5, 8, 31, 63, 64}) CHECK(shortfall(group{n}, n / 3) == 1);
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    const topology hosts({random_hosts(random, 1 + random() % 12, 5)});
    const group g(hosts.size(), hosts);
    INFO(g.size() << " ranks on " << g.hosts() << " hosts");
    CHECK(shortfall(g, static_cast<int>(random() % static_cast<unsigned>(g.size()))) == 1);
  }
}

TEST_CASE("Beyond 64 ranks the price is at most a third lower than that of playing all") {
  for (const int n : {65, 100, 127, 128, 255, 333}) {
    INFO(n);
    CHECK(shortfall(group{n}, n / 3) < 1.5);
  }
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    const bool is_even = round % 2 == 0;
    const topology hosts({is_even ? std::vector<int>(10 + random() % 30, 1 + static_cast<int>(random() % 8))
                                  : random_hosts(random, 20 + random() % 20, 8)});
    const group g(hosts.size(), hosts);
    INFO(g.size() << " ranks on " << g.hosts() << " hosts");
    CHECK(shortfall(g, static_cast<int>(random() % static_cast<unsigned>(g.size()))) < 1.5);
  }
}

TEST_CASE("Rounds in which no played rank takes part are priced too") {
  CHECK(near(count<Pipeline>(rounds, group{4000}), 2 * (3999 + Pipeline::segments - 1)));
}

TEST_CASE("4,096 ranks on 512 hosts are priced") {
  const topology hosts({std::vector<int>(512, 8)});
  const group g(4096, hosts);
  CHECK(near(count<Ring>(rounds_between, g), 2 * 4095));
  CHECK(near(count<NHR>(messages, g), 2 * 12));
  CHECK(near(count<Hierarchical<Mesh, NHR>>(rounds, g), 2));
  CHECK(near(count<Hierarchical<Mesh, NHR>>(rounds_between, g), 2 * 9));
  CHECK(near(part<Hierarchical<Mesh, NHR>>(between, g), 2 * 511 / 512.0));
}

TEST_CASE("More bytes cost more, and few bytes cost less in few rounds") {
  const hccl::link_model link;
  for (const int n : {2, 8, 33}) {
    double before = 0;
    for (double bytes = 1; bytes < 1e9; bytes *= 10) {
      const double seconds = hccl::cost<hccl::Ring, AllReduce>(group{n}, bytes, link);
      CHECK(seconds > before);
      before = seconds;
    }
  }
  const group eight{8};
  CHECK(hccl::cost<hccl::OneShotMesh, AllReduce>(eight, 8, link) <
        hccl::cost<hccl::Ring, AllReduce>(eight, 8, link));
  CHECK(hccl::cost<hccl::OneShotMesh, AllReduce>(eight, 1e8, link) >
        hccl::cost<hccl::Ring, AllReduce>(eight, 1e8, link));
}

TEST_CASE("where a rank copies what it sends and gets, both count") {
  link_model link{.latency = 0, .overhead = 0, .seconds_per_byte = 1, .reduction = 0};
  CHECK(hccl::cost<Mesh, ReduceScatter>(group{2}, 100, link) == 50);
  link.is_copied = true;
  CHECK(hccl::cost<Mesh, ReduceScatter>(group{2}, 100, link) == 100);
  CHECK(hccl::cost<BinomialTree, Broadcast>(group{2}, 100, link) == 100);  // one sends, the other gets
}
