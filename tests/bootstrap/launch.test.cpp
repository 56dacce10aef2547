// SPDX-License-Identifier: Apache-2.0

// What launchers say in the environment, and half of it.

#include "test.hpp"

#include <hccl/bootstrap/launch.hpp>

#include <unistd.h>

#include <map>
#include <string>

namespace {

using Variables = std::map<std::string, std::string>;

Variables& variables() {
  static Variables current;
  return current;
}

const char* fake(const char* name) {
  const auto found = variables().find(name);
  return found == variables().end() ? nullptr : found->second.c_str();
}

hccl::launch_info launch(const Variables& environment) {
  variables() = environment;
  return hccl::find_launch(fake);
}

std::string refusal(const Variables& environment) {
  try {
    launch(environment);
  } catch (const hccl::error& e) {
    return e.kind() == hccl::errc::invalid_argument ? e.what() : "another kind";
  }
  return "no error";
}

struct Case {
  Variables environment;
  int rank, size;
  std::string store;
};

}  // namespace

TEST_CASE("each launcher is understood") {
  const auto job = "unix:@hccl-" + std::to_string(::getuid());
  const Case cases[] = {
      {{}, 0, 1, ""},
      {{{"RANK", ""}, {"WORLD_SIZE", ""}}, 0, 1, ""},
      {{{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"HCCL_STORE", "tcp://127.0.0.1:5"}}, 2, 4, "tcp://127.0.0.1:5"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "1"}}, 0, 1, ""},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}},
       1,
       2,
       "tcp://node0:29500"},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "::1"}, {"MASTER_PORT", "29500"}},
       1,
       2,
       "tcp://[::1]:29500"},
      {{{"RANK", "1"},
        {"WORLD_SIZE", "2"},
        {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", "29500"},
        {"TORCHELASTIC_USE_AGENT_STORE", "True"},
        {"TORCHELASTIC_RUN_ID", "none"},
        {"TORCHELASTIC_RESTART_COUNT", "3"}},
       1,
       2,
       "torch://127.0.0.1:29500/none.3"},
      {{{"OMPI_COMM_WORLD_RANK", "3"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
        {"PMIX_NAMESPACE", "12345"},
        {"PMI_RANK", "9"}},
       3,
       4,
       job + "-openmpi-12345"},
      {{{"OMPI_COMM_WORLD_RANK", "3"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
        {"MASTER_ADDR", "node0"},
        {"MASTER_PORT", "7"}},
       3,
       4,
       "tcp://node0:7"},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}},
       1,
       2,
       job + "-hydra-" + std::to_string(::getppid())},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "1"}, {"HCCL_STORE", "file:///shared/x"}},
       1,
       2,
       "file:///shared/x"},
      {{{"SLURM_PROCID", "5"},
        {"SLURM_NTASKS", "8"},
        {"SLURM_STEP_NUM_TASKS", "6"},
        {"SLURM_JOB_ID", "77"},
        {"SLURM_STEP_ID", "0"},
        {"SLURM_STEP_NUM_NODES", "1"}},
       5,
       6,
       job + "-slurm-77.0"},
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}},
       0,
       1,
       ""},  // a batch script, not a step
  };
  for (const auto& c : cases) {
    const auto info = launch(c.environment);
    INFO(c.store);
    CHECK(info.rank == c.rank);
    CHECK(info.size == c.size);
    CHECK(info.store == c.store);
  }
}

TEST_CASE("a launch is told from a program that was just started") {
  variables() = {};
  CHECK_FALSE(hccl::launched(fake));
  variables() = {{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  CHECK(hccl::launched(fake));
}

TEST_CASE("a setting that is not whole is refused by name") {
  const std::map<std::string, Variables> cases = {
      {"RANK is set, but WORLD_SIZE is not", {{"RANK", "0"}}},
      {"WORLD_SIZE is set, but RANK is not", {{"WORLD_SIZE", "2"}}},
      {"RANK='one' is not a whole number",
       {{"RANK", "one"}, {"WORLD_SIZE", "2"}, {"HCCL_STORE", "tcp://a:1"}}},
      {"RANK='1x' is not a whole number", {{"RANK", "1x"}, {"WORLD_SIZE", "2"}, {"HCCL_STORE", "tcp://a:1"}}},
      {"WORLD_SIZE='99999999999' is not a whole number", {{"RANK", "1"}, {"WORLD_SIZE", "99999999999"}}},
      {"WORLD_SIZE=0 is not a number of ranks", {{"RANK", "0"}, {"WORLD_SIZE", "0"}}},
      {"neither HCCL_STORE nor MASTER_ADDR", {{"RANK", "0"}, {"WORLD_SIZE", "2"}}},
      {"MASTER_ADDR is set, but MASTER_PORT is not",
       {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}},
      {"MASTER_PORT='x'", {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "x"}}},
      {"OMPI_COMM_WORLD_SIZE is not", {{"OMPI_COMM_WORLD_RANK", "0"}, {"HCCL_STORE", "tcp://a:1"}}},
      {"openmpi job are on several hosts: set HCCL_STORE",
       {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}},
      {"slurm job are on several hosts: set HCCL_STORE",
       {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "1"}, {"SLURM_NNODES", "2"}}},
      {"HCCL_STORE is set, but RANK and WORLD_SIZE are not", {{"HCCL_STORE", "tcp://a:1"}}},
  };
  for (const auto& [text, environment] : cases) {
    INFO(text);
    INFO(refusal(environment));
    CHECK(refusal(environment).find(text) != std::string::npos);
  }
}

TEST_CASE("where rank and size come from is remembered") {
  CHECK(launch({{"RANK", "7"}, {"WORLD_SIZE", "4"}, {"HCCL_STORE", "tcp://a:1"}}).origin ==
        "RANK=7, WORLD_SIZE=4");
}
