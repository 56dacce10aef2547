// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/algorithm/hccl_algo.hpp>
#include <hccl/algorithm/tuning.hpp>
#include <hccl/core/error.hpp>

#include <string>
#include <string_view>

namespace {

/// The rules that a value makes, as text.
std::string rules_of(std::string_view value) {
  std::string text;
  for (const hccl::tuning_rule& rule : hccl::read_hccl_algo(value)) {
    CHECK(rule.origin == "HCCL_ALGO");
    CHECK(rule.min_ranks == 1);
    CHECK(rule.min_bytes == 0);
    text += "[" + rule.collective + ": " + rule.algorithm + "]";
  }
  return text;
}

/// What is wrong with a value.
std::string fault_of(std::string_view value) {
  try {
    hccl::read_hccl_algo(value);
  } catch (const hccl::error& e) {
    CHECK(e.kind() == hccl::errc::invalid_argument);
    return hccl::detail::reason(e);
  }
  return "none";
}

}  // namespace

TEST_CASE("HCCL_ALGO for all collectives") {
  CHECK(rules_of("").empty());
  CHECK(rules_of("level0:NA;level1:pipeline") == "[: pipeline]");
  CHECK(rules_of("level0:NA;level1:ring") == "[: mesh inside ring][: ring]");
  CHECK(rules_of("level1:pairwise") == "[: pairwise]");
  CHECK(rules_of("level0:NA;level1:NA").empty());
  CHECK(rules_of("level0:NA").empty());
}

TEST_CASE("HCCL_ALGO for each collective") {
  CHECK(rules_of("allgather=level0:NA;level1:NHR/reducescatter=level0:NA;level1:pairwise") ==
        "[allgather: mesh inside nhr][allgather: nhr][reduce_scatter: pairwise]");
  CHECK(rules_of("alltoall=level1:fullmesh") == "[alltoall: mesh][alltoallv: mesh]");
  CHECK(rules_of("scan=level1:pipeline/level1:pairwise") == "[scan: pipeline][: pairwise]");
  CHECK(rules_of("allreduce=level0:NA;level1:NA/level1:pairwise") == "[: pairwise]");
}

TEST_CASE("HCCL_ALGO knows the names of HCCL and those of hccl") {
  CHECK(rules_of("level1:H-D_R") == "[: recursive_halving_doubling]");
  CHECK(rules_of("level1:recursive_halving_doubling") == rules_of("level1:H-D_R"));
  CHECK(rules_of("level1:NHR_V1") == "[: mesh inside nhr][: nhr]");
  CHECK(rules_of("level1:NB") == "[: nonuniform_bruck]");
  CHECK(rules_of("level1:AHC") == "[: ahc]");
  for (const std::string_view name : hccl::detail::candidate_names) {
    const std::string rules = rules_of("level1:" + std::string(name));
    CHECK(rules.ends_with("[: " + std::string(name) + "]"));
  }
}

TEST_CASE("The second level of HCCL_ALGO is checked and has no effect") {
  CHECK(rules_of("level0:NA;level1:pairwise;level2:NHR") == "[: pairwise]");
  CHECK(rules_of("level2:ring").empty());
  CHECK(fault_of("level2:rung").starts_with(R"(HCCL_ALGO="level2:rung": there is no algorithm "rung")"));
}

TEST_CASE("What is wrong with HCCL_ALGO is told") {
  CHECK(fault_of("level0:NA;level1:rnig") ==
        R"(HCCL_ALGO="level0:NA;level1:rnig": there is no algorithm "rnig"; expected one of H-D_R, NHR, )"
        "NHR_V1, NB, AHC, fullmesh, " +
            fault_of("level1:?").substr(fault_of("level1:?").find("mesh, one_shot_mesh")));
  CHECK(fault_of("allredcue=level1:ring")
            .starts_with(R"(HCCL_ALGO="allredcue=level1:ring": there is no collective "allredcue"; expected )"
                         "one of allreduce, reduce_scatter, "));
  CHECK(fault_of("level0:ring") ==
        R"(HCCL_ALGO="level0:ring": "level0:ring" is not understood; expected level0:NA)");
  CHECK(fault_of("level1:ring;level1:NHR") == R"(HCCL_ALGO="level1:ring;level1:NHR": "level1:NHR" is not )"
                                              "understood; expected each level once");
  for (const std::string_view value :
       {"ring", "level", "level1", "level1ring", "level3:ring", "lexel1:ring", "level1:ring;;level2:ring",
        "level1:ring//level1:ring", "allreduce=", "=", "/"}) {
    INFO(value);
    CHECK(fault_of(value).ends_with(
        "is not understood; expected level0:NA, level1:<algorithm> or level2:<algorithm>, separated by ';'"));
  }
  CHECK(fault_of("=level1:ring").find(R"(there is no collective "")") != std::string::npos);
  CHECK(fault_of("level1:").find(R"(there is no algorithm "")") != std::string::npos);
}
