// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/algorithm/candidates.hpp>
#include <hccl/algorithm/choice.hpp>
#include <hccl/algorithm/tuning.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using hccl::AllReduce, hccl::AllToAll, hccl::AllToAllV, hccl::decided_by, hccl::group, hccl::topology,
    hccl::tuning;
using hccl::detail::chooser, hccl::detail::situation;

namespace {

constexpr hccl::link_model fabric{.latency = 2e-6,
                                  .overhead = 2e-7,
                                  .seconds_per_byte = 1e-11,
                                  .reduction = 1e-11,
                                  .host_latency = 1e-5,
                                  .host_seconds_per_byte = 8e-11};

template <class C>
std::string_view choice(chooser& auto_, const situation& s) {
  return auto_.choose<C>(s, [](const auto&) {}).chosen->algorithm;
}

template <class C>
std::string_view choice(const situation& s) {
  chooser auto_;
  return choice<C>(auto_, s);
}

/// The names of the rules that were passed over, and what was chosen.
template <class C>
std::string trace(chooser& auto_, const situation& s) {
  std::string text;
  const auto d =
      auto_.template choose<C>(s, [&](const hccl::tuning_rule& rule) { text += rule.algorithm + " no, "; });
  return text + std::string(d.chosen->algorithm) + (d.rule == nullptr ? " by price" : " by rule");
}

}  // namespace

TEST_CASE("Few bytes go in few rounds, many in small parts") {
  CHECK(choice<AllReduce>({group(8), 8, fabric, true}) == "one_shot_mesh");
  CHECK(choice<AllReduce>({group(256), 8, fabric, true}) == "recursive_doubling");
  CHECK(choice<AllReduce>({group(8), 1 << 28, fabric, true}) == "mesh");
  CHECK(choice<AllToAll>({group(256), 256, fabric, true}) == "bruck");
  CHECK(choice<AllToAll>({group(256), 1 << 28, fabric, true}) == "mesh");
}

TEST_CASE("Several hosts are worth a hierarchy") {
  const topology hosts({std::vector<int>(3, 8)});
  CHECK(choice<AllReduce>({group(24, hosts), 1 << 20, fabric, true}).starts_with("mesh inside "));
  CHECK_FALSE(choice<AllReduce>({group(24), 1 << 20, fabric, true}).starts_with("mesh inside "));
}

TEST_CASE("The choice is the cheapest that is eligible") {
  const topology uneven({{5, 2, 1}});
  for (const group& g : {group(3), group(8), group(8, uneven)}) {
    for (const bool commutes : {true, false}) {
      for (std::size_t bytes = 0; bytes < std::size_t{1} << 32; bytes = bytes * 16 + 8) {
        double lowest = std::numeric_limits<double>::infinity();
        std::string_view expected;
        const auto consider = [&]<class A>() {
          if constexpr (hccl::Offers<A, AllReduce>) {
            if (!commutes && !hccl::keeps_order<hccl::schedule_of<A, AllReduce>, AllReduce>) return;
            if (A::name.find("inside") != A::name.npos && g.hosts() == 1) return;
            const double seconds = hccl::cost<A, AllReduce>(g, static_cast<double>(bytes), fabric);
            if (seconds < lowest) {
              lowest = seconds;
              expected = A::name;
            }
          }
        };
        [&]<class... As>(const std::tuple<As...>*) {
          (consider.template operator()<As>(), ...);
        }(static_cast<const hccl::candidates*>(nullptr));
        CHECK(choice<AllReduce>({g, bytes, fabric, commutes}) == expected);
      }
    }
  }
}

TEST_CASE("Prices belong to one group") {
  const topology hosts({std::vector<int>(3, 8)});
  chooser auto_;
  CHECK_FALSE(choice<AllReduce>(auto_, {group(24), 1 << 20, fabric, true}).starts_with("mesh inside "));
  auto_.forget_prices();
  CHECK(choice<AllReduce>(auto_, {group(24, hosts), 1 << 20, fabric, true}).starts_with("mesh inside "));
}

TEST_CASE("The first rule that matches and can be kept decides") {
  chooser auto_;
  auto_.set_rules({{.algorithm = "pairwise", .max_ranks = 7},
                   {.algorithm = "ring", .collective = "allreduce", .min_bytes = 10, .end_bytes = 20},
                   {.algorithm = "mesh inside ring"},
                   {.algorithm = "nhr", .min_ranks = 8, .max_ranks = 8}});
  const topology hosts({{4, 4}});
  const auto at = [&](const group& g, std::size_t bytes, bool commutes = true) {
    return trace<AllReduce>(auto_, {g, bytes, fabric, commutes});
  };
  CHECK(at(group(8), 10) == "ring by rule");
  CHECK(at(group(8), 19) == "ring by rule");
  CHECK(at(group(8), 9) == "mesh inside ring no, nhr by rule");
  CHECK(at(group(8), 20) == "mesh inside ring no, nhr by rule");
  auto_.forget_prices();
  CHECK(at(group(8, hosts), 20) == "mesh inside ring by rule");
  auto_.forget_prices();
  CHECK(at(group(7), 20) == "pairwise no, mesh inside ring no, one_shot_mesh by price");
  CHECK(at(group(9), 20).ends_with(" by price"));
  auto_.forget_prices();
  CHECK(at(group(8), 10, false).starts_with("ring no, mesh inside ring no, nhr no, "));
  CHECK(trace<AllToAllV>(auto_, {group(7), 0, fabric, true}) == "pairwise by rule");
}

TEST_CASE("A rule for an algorithm that cannot deal with the hosts is passed over") {
  const topology hosts({{29, 23, 19, 17, 13, 11, 9, 8, 7, 5}});
  const situation s{group(hosts.size(), hosts), 1000, fabric, true};
  chooser auto_;
  auto_.set_rules({{.algorithm = "ahc"}});
  CHECK(trace<AllReduce>(auto_, s).starts_with("ahc no, "));
  CHECK(trace<AllReduce>(auto_, s).ends_with(" by price"));
  CHECK(trace<hccl::Scatter>(auto_, s) == "ahc by rule");
}

TEST_CASE("Rules without an origin are named by their number") {
  chooser auto_;
  auto_.set_rules({{.algorithm = "ring", .origin = "a list"}, {.algorithm = "nhr"}});
  CHECK(auto_.rules()[0].origin == "a list");
  CHECK(auto_.rules()[1].origin == "rule 2");
}

TEST_CASE("No rank knows the bytes of an alltoallv") {
  CHECK(hccl::detail::known_bytes<AllToAllV>(100) == 0);
  CHECK(hccl::detail::known_bytes<AllToAll>(100) == 100);
}

TEST_CASE("Every collective has a candidate that keeps rank order, on one host") {
  const auto check = []<class C>(const C&) {
    CHECK_FALSE(choice<C>({group(5), 100, fabric, false}).empty());
  };
  std::apply([&](const auto&... each) { (check(each), ...); },
             std::tuple<AllReduce, hccl::ReduceScatter, hccl::Reduce, hccl::Scan, hccl::ExScan>());
}
