// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "require.hpp"
#include "test.hpp"

#include <hccl/algorithm/ring.hpp>
#include <hccl/algorithm/swing.hpp>
#include <hccl/collective/allreduce.hpp>
#include <hccl/collective/broadcast.hpp>
#include <hccl/core/error.hpp>
#include <hccl/explain.hpp>
#include <hccl/reduction/average.hpp>
#include <hccl/schedule/topology.hpp>

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using hccl::AllReduce, hccl::Auto, hccl::decided_by, hccl::errc, hccl::topology;
using hccl_test::Comm, hccl_test::Outcome, hccl_test::outcome_of, hccl_test::outcomes_of;

namespace {

/// Sets HCCL_ALGO for a while.
class Environment {
 public:
  explicit Environment(const char* value) { setenv("HCCL_ALGO", value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv("HCCL_ALGO"); }
};

/// Adds up the ranks' numbers.
template <class Algo = Auto>
void add_up(Comm& comm, std::size_t count = 10) {
  std::vector<int> data(count, comm.rank());
  hccl::allreduce<int, hccl::Sum, Algo>(comm, data);
  if (data != std::vector<int>(count, comm.size() * (comm.size() - 1) / 2))
    throw std::runtime_error("wrong sum");
}

/// Runs f(comm) on four ranks, none of which may fail.
template <class F>
void on_four(F&& f) {
  for (const Outcome& o : outcomes_of(4, f)) CHECK(o.text().empty());
}

using hccl_test::require;

}  // namespace

TEST_CASE("rules go by the bytes of the buffer, also where wider elements travel") {
  on_four([](Comm& comm) {
    comm.set_tuning({{.algorithm = "ring", .end_bytes = 1000}});
    std::vector<signed char> data(500);
    comm.rank() == 0 ? hccl::allreduce<signed char, hccl::Average, hccl::Ring>(comm, data)
                     : hccl::allreduce(comm, data, hccl::Average{});
  });
}

TEST_CASE("explain names what the price chooses, and all candidates") {
  on_four([](Comm& comm) {
    const hccl::explanation e = hccl::explain(comm, AllReduce{}, 40);
    require(e.collective == "allreduce" && e.ranks == 4 && e.hosts == 1 && e.bytes == 40, "the call");
    require(e.by == decided_by::price && e.why == "the lowest price", "the reason");
    require(e.candidates.size() > 5, "candidates");
    require(e.candidates.front().algorithm == e.chosen.algorithm, "the cheapest is chosen");
    require(e.candidates.front().seconds == e.chosen.seconds, "its price");
    for (std::size_t i = 1; i < e.candidates.size(); ++i)
      require(e.candidates[i - 1].seconds <= e.candidates[i].seconds, "ascending");
    for (const auto& each : e.candidates)
      require(each.algorithm.find("inside") == std::string::npos, "one host");
    add_up(comm);
  });
}

TEST_CASE("explain takes the call, a rule and HCCL_ALGO into account, in this order") {
  const Environment environment("level0:NA;level1:ring");
  on_four([](Comm& comm) {
    const auto e = hccl::explain<hccl::Swing>(comm, AllReduce{}, 40);
    require(e.chosen.algorithm == "swing" && e.by == decided_by::call && e.why == "the call names it",
            "call");
    const auto by_environment = hccl::explain(comm, AllReduce{}, 40);
    require(by_environment.chosen.algorithm == "ring" && by_environment.by == decided_by::environment,
            "variable");
    require(by_environment.why.starts_with("HCCL_ALGO; the mesh inside ring of HCCL_ALGO is passed over"),
            "why");
    comm.set_tuning({{.algorithm = "pairwise"}, {.algorithm = "nhr", .collective = "allreduce"}});
    const auto by_rule = hccl::explain(comm, AllReduce{}, 40);
    require(by_rule.chosen.algorithm == "nhr" && by_rule.by == decided_by::rule &&
                by_rule.why == "rule 2; the pairwise of rule 1 is passed over, since it cannot do this call",
            "rule");
    require(hccl::explain(comm, hccl::AllGather{}, 40).chosen.algorithm == "ring", "another collective");
    require(hccl::explain(comm, AllReduce{}, 40, false).by == decided_by::price, "rank order is kept");
    comm.set_tuning({});
    require(hccl::explain(comm, AllReduce{}, 40).chosen.algorithm == "ring", "no rules any more");
    comm.set_hosts(topology({{3, 1}}));
    const auto e2 = hccl::explain(comm, AllReduce{}, 40);
    require(e2.chosen.algorithm == "mesh inside ring" && e2.hosts == 2 && e2.why == "HCCL_ALGO", "two hosts");
    add_up(comm);
  });
}

TEST_CASE("What does not offer the collective falls back to the price, and explain says so") {
  const Environment environment("level0:NA;level1:pairwise");
  on_four([](Comm& comm) {
    const auto e = hccl::explain(comm, AllReduce{}, 40);
    require(e.by == decided_by::price, "the price decides");
    require(
        e.why == "the lowest price; the pairwise of HCCL_ALGO is passed over, since it cannot do this call",
        e.why);
    require(hccl::explain(comm, hccl::AllToAllV{}, 1 << 20).chosen.algorithm == "pairwise", "alltoallv");
    require(hccl::explain(comm, hccl::AllToAllV{}, 1 << 20).bytes == 0, "bytes of alltoallv");
    add_up(comm);
  });
}

TEST_CASE("explain as text") {
  on_four([](Comm& comm) {
    comm.set_hosts(topology({{2, 2}}));
    const std::string text = to_string(hccl::explain(comm, hccl::Broadcast{3}, 1000));
    require(text.starts_with("broadcast of 1000 bytes over 4 ranks on 2 hosts: "), text);
    require(text.find(" us (the lowest price)\n  ") != std::string::npos, text);
    require(text.find("\n  ring: ") != std::string::npos, text);
  });
}

TEST_CASE("A call runs what explain says") {
  on_four([](Comm& comm) {
    comm.set_tuning({{.algorithm = "ring", .collective = "", .min_bytes = 40}});
    require(hccl::explain(comm, AllReduce{}, 40).chosen.algorithm == "ring", "ring");
    // One rank names it, the others are led to it: were it another, they would not agree.
    comm.rank() == 0 ? add_up<hccl::Ring>(comm) : add_up(comm);
  });
  const auto outcomes = outcomes_of(4, [](Comm& comm) {
    comm.set_tuning({{.algorithm = "ring", .collective = "", .min_bytes = 41}});
    comm.rank() == 0 ? add_up<hccl::Ring>(comm) : add_up(comm);
  });
  for (const Outcome& o : outcomes) CHECK(o.error);
}

TEST_CASE("Ranks with other rules find out") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    comm.set_tuning({{.algorithm = comm.rank() == 0 ? "ring" : "nhr"}});
    add_up(comm);
  });
  for (const Outcome& o : outcomes) CHECK((o.is(errc::mismatch) || o.is(errc::aborted)));
  CHECK((outcomes[0].says("another algorithm") || outcomes[1].says("another algorithm")));
}

TEST_CASE("A rule that names what does not exist is refused, and the old ones stay") {
  on_four([](Comm& comm) {
    comm.set_tuning({{.algorithm = "ring"}});
    const auto refused = [&](const hccl::tuning& rules, std::string_view part) {
      const Outcome o = outcome_of([&] { comm.set_tuning(rules); });
      require(o.is(errc::invalid_argument) && o.says(part), o.text());
      require(o.says("set_tuning: rule " + std::to_string(rules.size()) + ": "), o.text());
    };
    refused({{.algorithm = "nhr"}, {.algorithm = "rnig"}},
            R"(there is no algorithm "rnig"; expected one of )");
    refused({{.algorithm = "ring", .collective = "alreduce"}},
            R"(there is no collective "alreduce"; expected )");
    refused({{.algorithm = "ring", .min_ranks = 3, .max_ranks = 2}}, "ranks from 3 to 2");
    refused({{.algorithm = "ring", .min_bytes = 3, .end_bytes = 3}}, "bytes from 3 to below 3");
    require(comm.tuning().size() == 1 && comm.tuning()[0].algorithm == "ring", "the old rule");
    add_up(comm);
  });
}

TEST_CASE("An HCCL_ALGO that cannot be read fails on every rank at the first choice") {
  const Environment environment("level0:NA;level1:rnig");
  const auto outcomes = outcomes_of(4, [](Comm& comm) {
    add_up<hccl::Ring>(comm);  // nothing to choose
    add_up(comm);
  });
  for (const Outcome& o : outcomes) {
    CHECK(o.is(errc::invalid_argument));
    CHECK(o.says(R"(HCCL_ALGO="level0:NA;level1:rnig": there is no algorithm "rnig"; expected one of )"));
  }
}

TEST_CASE("explain tells what is wrong with HCCL_ALGO and leaves the communicator as it was") {
  const Environment environment("level0:NA;level1:rnig");
  on_four([](Comm& comm) {
    const Outcome o = outcome_of([&] { hccl::explain(comm, AllReduce{}, 40); });
    require(o.is(errc::invalid_argument) && o.says("rnig"), o.text());
    add_up<hccl::Ring>(comm);
  });
}

TEST_CASE("HCCL_ALGO is read once for a communicator") {
  const Environment environment("level1:ring");
  Comm comm{hccl::LocalTransport()};
  CHECK(hccl::explain(comm, AllReduce{}, 40).chosen.algorithm == "ring");
  setenv("HCCL_ALGO", "level1:nhr", 1);
  CHECK(hccl::explain(comm, AllReduce{}, 40).chosen.algorithm == "ring");
  Comm later{hccl::LocalTransport()};
  CHECK(hccl::explain(later, AllReduce{}, 40).chosen.algorithm == "nhr");
}
