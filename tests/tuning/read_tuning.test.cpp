// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/core/error.hpp>
#include <hccl/tuning/read_tuning.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace {

/// A file with a text, for as long as it is named.
class File {
 public:
  explicit File(const std::string& text) {
    const int descriptor = mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    std::ofstream(path_) << text;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/hccl_tuning_XXXXXX";
};

/// What is wrong with a file, without its name.
std::string fault_of(const std::string& text) {
  const File file(text);
  try {
    hccl::read_tuning(file.path());
  } catch (const hccl::error& e) {
    CHECK(e.kind() == hccl::errc::invalid_argument);
    const std::string reason = hccl::detail::reason(e);
    CHECK(reason.starts_with(file.path() + ": "));
    return reason.substr(file.path().size() + 2);
  }
  return "none";
}

/// The same of a file with a good rule and one with these members.
std::string fault_of_rule(const std::string& members) {
  return fault_of(R"({"rules": [{"algorithm": "ring"}, {)" + members + "}]}");
}

}  // namespace

TEST_CASE("A tuning file becomes rules") {
  const File file(R"({"rules": [
    {"collective": "allreduce", "ranks": [2, 8], "bytes": [0, 65536], "algorithm": "recursive_doubling"},
    {"ranks": 16, "bytes": [5000000000, null], "algorithm": "mesh inside ring"},
    {"algorithm": "ring"}
  ]})");
  const hccl::tuning rules = hccl::read_tuning(file.path());
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].collective == "allreduce");
  CHECK(rules[0].algorithm == "recursive_doubling");
  CHECK(rules[0].min_ranks == 2);
  CHECK(rules[0].max_ranks == 8);
  CHECK(rules[0].min_bytes == 0);
  CHECK(rules[0].end_bytes == 65536);
  CHECK(rules[0].origin == file.path() + ": rule 1");
  CHECK(rules[1].collective.empty());
  CHECK(rules[1].algorithm == "mesh inside ring");
  CHECK(rules[1].min_ranks == 16);
  CHECK(rules[1].max_ranks == 16);
  CHECK(rules[1].min_bytes == 5000000000);
  CHECK(rules[1].end_bytes == std::numeric_limits<std::size_t>::max());
  CHECK(rules[2].matches("scan", 1, 0));
  CHECK(rules[2].matches("scan", 100000, std::size_t{1} << 40));
  CHECK(rules[2].origin == file.path() + ": rule 3");
  CHECK(hccl::read_tuning(File(R"({"rules": []})").path()).empty());
}

TEST_CASE("A damaged tuning file tells what is wrong, and where") {
  CHECK(fault_of("").starts_with("expected JSON: "));
  CHECK(fault_of(R"({"rules": [)").starts_with("expected JSON: "));
  for (const char* text : {"[]", "{}", "3", R"({"rules": 3})", R"({"rules": [], "more": 1})"})
    CHECK(fault_of(text) == R"(it does not hold {"rules": [...]} and nothing else)");
  CHECK(fault_of(R"({"rules": ["ring"]})") == R"(rule 1: it is "ring"; expected an object)");
  CHECK(fault_of_rule("") == "rule 2: it has no algorithm; expected the name of one");
  CHECK(fault_of_rule(R"("algorithm": "rnig")")
            .starts_with(R"(rule 2: there is no algorithm "rnig"; expected one of mesh, )"));
  CHECK(fault_of_rule(R"("algorithm": 3)") == "rule 2: algorithm: it is 3; expected a name");
  CHECK(fault_of_rule(R"("algorithm": "ring", "collective": "reduce_scater")")
            .starts_with(R"(rule 2: there is no collective "reduce_scater"; expected one of allreduce, )"));
  CHECK(fault_of_rule(R"("algorithm": "ring", "colective": "scan")") ==
        R"(rule 2: it has a member "colective"; expected algorithm, collective, ranks or bytes)");
  for (const std::string value : {"[2]", "-1", "[1, 2, 3]", "1.5", R"("8")", "3000000000", "[2, null]"}) {
    INFO(value);
    CHECK(fault_of_rule(R"("algorithm": "ring", "ranks": )" + value)
              .ends_with("; expected a number of ranks, or [first, last]"));
  }
  CHECK(fault_of_rule(R"("algorithm": "ring", "ranks": [8, 2])").starts_with("rule 2: ranks from 8 to 2"));
  for (const std::string value : {"5", "[5]", "[null, 5]", "[-5, 5]", "[1.5, 5]"}) {
    INFO(value);
    CHECK(fault_of_rule(R"("algorithm": "ring", "bytes": )" + value)
              .ends_with("; expected [first, end], or [first, null]"));
  }
  CHECK(fault_of_rule(R"("algorithm": "ring", "bytes": [5, 5])")
            .starts_with("rule 2: bytes from 5 to below 5"));
}

TEST_CASE("A tuning file that is not there is named") {
  try {
    hccl::read_tuning("/nowhere/tuning.json");
    FAIL("nothing was thrown");
  } catch (const hccl::error& e) {
    CHECK(e.kind() == hccl::errc::invalid_argument);
    CHECK(hccl::detail::reason(e) == "/nowhere/tuning.json: the file cannot be read");
  }
}
