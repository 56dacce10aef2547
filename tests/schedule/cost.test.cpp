// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/recursive_halving_doubling.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/group.hpp>

#include <cmath>

using hccl::AllReduce;
using hccl::group;

namespace {

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

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
    const hccl::price p = hccl::price_of<hccl::Ring, AllReduce>(group{n});
    CHECK(near(p.rounds, 2 * (n - 1)));
    CHECK(near(p.messages, 2 * (n - 1)));
    CHECK(near(p.volume, 2.0 * (n - 1) / n));
    CHECK(near(p.reduced, 1.0 * (n - 1) / n));
  }
}

TEST_CASE("Halving and doubling takes 2 ceil(log2 n) rounds") {
  for (int n = 2; n <= 40; ++n) {
    const hccl::price p = hccl::price_of<hccl::RecursiveHalvingDoubling, AllReduce>(group{n});
    CHECK(near(p.rounds, 2 * ceil_log2(n)));
  }
  CHECK(near(hccl::price_of<hccl::RecursiveHalvingDoubling, AllReduce>(group{8}).volume, 2.0 * 7 / 8));
}

TEST_CASE("Meshes and trees cost what they are documented to") {
  for (const int n : {2, 5, 8}) {
    CHECK(near(hccl::price_of<hccl::Mesh, AllReduce>(group{n}).rounds, 2));
    CHECK(near(hccl::price_of<hccl::Mesh, AllReduce>(group{n}).volume, 2.0 * (n - 1) / n));
    CHECK(near(hccl::price_of<hccl::OneShotMesh, AllReduce>(group{n}).rounds, 1));
    CHECK(near(hccl::price_of<hccl::OneShotMesh, AllReduce>(group{n}).volume, n - 1));
    for (int root = 0; root < n; ++root) {
      const hccl::price p = hccl::price_of<hccl::BinomialTree>(group{n}, hccl::Reduce{root});
      CHECK(near(p.rounds, ceil_log2(n)));
      CHECK(near(p.volume, ceil_log2(n)));
    }
  }
}

TEST_CASE("The time is the sum of what is priced") {
  const hccl::price p{.rounds = 2, .messages = 3, .volume = 0.5, .reduced = 0.25};
  const hccl::link_model link{.latency = 1, .overhead = 10, .seconds_per_byte = 100, .reduction = 1000};
  CHECK(near(p.seconds(4, link), 2 * 1 + 3 * 10 + 4 * (0.5 * 100 + 0.25 * 1000)));
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
  CHECK(hccl::cost<hccl::OneShotMesh, AllReduce>(eight, 8, link) < hccl::cost<hccl::Ring, AllReduce>(eight, 8, link));
  CHECK(hccl::cost<hccl::OneShotMesh, AllReduce>(eight, 1e8, link) > hccl::cost<hccl::Ring, AllReduce>(eight, 1e8, link));
}
