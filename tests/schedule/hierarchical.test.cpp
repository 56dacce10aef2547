// SPDX-License-Identifier: Apache-2.0

#include "schedule/proven.hpp"
#include "test.hpp"

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/hierarchical.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/topology.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using hccl::group;
using hccl::Hierarchical;
using hccl::Mesh;
using hccl::NHR;
using hccl::Pipelined;
using hccl::RecursiveHalvingDoubling;
using hccl::Ring;

using levels = std::vector<std::vector<int>>;

/// Hierarchies of at most 24 ranks on one to three levels, with runs of 1 to 6 members, drawn by a fixed seed.
std::vector<levels> uneven_hierarchies(int number) {
  std::mt19937 random(20240229);  // its numbers are the same everywhere; those of distributions are not
  const auto random_in = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  std::vector<levels> all;
  while (static_cast<int>(all.size()) < number) {
    levels some;
    const int depth = random_in(1, 3);
    int members = random_in(2, 24);
    for (int level = 0; level < depth; ++level) {
      std::vector<int> runs;
      for (int left = members; left > 0; left -= runs.back()) runs.push_back(std::min(left, random_in(1, 6)));
      members = static_cast<int>(runs.size());
      some.push_back(runs);
    }
    all.push_back(some);
  }
  return all;
}

std::string in_words(const levels& some) {
  std::string text;
  for (const std::vector<int>& runs : some) {
    text += '{';
    for (const int size : runs) text += ' ' + std::to_string(size);
    text += " }";
  }
  return text;
}

using hierarchical =
    std::tuple<Hierarchical<Mesh, Ring>, Hierarchical<Mesh, RecursiveHalvingDoubling>,
               Hierarchical<Ring, Mesh>, Hierarchical<NHR, RecursiveHalvingDoubling>,
               Hierarchical<Mesh, Hierarchical<Ring, NHR>>, hccl::AHC, Pipelined<hccl::AHC, 2>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("hierarchical schedules are proven for 200 uneven hierarchies and every root", "",
                        hierarchical) {
  int proofs = 0;
  for (const levels& some : uneven_hierarchies(200)) {
    INFO(in_words(some));
    const hccl::topology hierarchy(some);
    const group g(hierarchy.size(), hierarchy);
    proofs += hccl_test::expect_proven<TestType>(g, hccl_test::every_root(g));
  }
  CHECK(proofs >= 200 * 5);
}

TEST_CASE("the hierarchies of these tests are of all kinds") {
  int depths[4] = {}, uneven = 0, largest = 0, single_hosts = 0, lone_ranks = 0;
  for (const levels& some : uneven_hierarchies(200)) {
    const hccl::topology hierarchy(some);
    const group g(hierarchy.size(), hierarchy);
    const auto [least, most] = std::ranges::minmax(some.front());
    ++depths[some.size()];
    uneven += least < most ? 1 : 0;
    lone_ranks += least == 1 ? 1 : 0;
    single_hosts += g.hosts() == 1 ? 1 : 0;
    largest = std::max(largest, g.size());
  }
  CHECK(std::min({depths[1], depths[2], depths[3]}) > 40);
  CHECK(uneven > 100);
  CHECK(lone_ranks > 20);
  CHECK(single_hosts > 2);
  CHECK(largest == 24);
}

TEST_CASE("a hierarchy keeps rank order if both parts do") {
  using hccl::keeps_order;
  CHECK(keeps_order<Hierarchical<Mesh, Mesh>, hccl::AllReduce>);
  CHECK(keeps_order<Hierarchical<Mesh, RecursiveHalvingDoubling>, hccl::Reduce>);
  CHECK_FALSE(keeps_order<Hierarchical<Mesh, Ring>, hccl::AllReduce>);
  CHECK_FALSE(keeps_order<Hierarchical<Ring, Mesh>, hccl::ReduceScatter>);
  CHECK_FALSE(keeps_order<hccl::AHC, hccl::AllReduce>);
}
