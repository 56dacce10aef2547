// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which rank of how many a process is, and where its job meets: what launchers tell through the environment.

#include <hccl/core/error.hpp>

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace hccl::inline v0 {

/// What a launcher has told a process. `rank` is as told: connect() checks it against `size`, so that it can
/// tell the others.
struct launch_info {
  int rank = 0;
  int size = 1;
  std::string store;                   ///< URL of the meeting point; empty in a world of one
  std::string origin = "no launcher";  ///< where rank and size come from, for messages
};

namespace detail {

/// Gives the value of an environment variable, or null; tests bring their own.
using environment = const char* (*)(const char* name);

inline const char* process_environment(const char* name) { return std::getenv(name); }

/// Reads what launchers say out of an environment.
class launch_reader {
 public:
  explicit launch_reader(environment get) : get_(get) {}

  /// Finds the first launcher that has said something; throws invalid_argument, naming the variable, when it
  /// is not whole.
  std::optional<launch_info> find() const {
    if (has("RANK") || has("WORLD_SIZE")) return from_torchrun_or_hand();
    if (has("OMPI_COMM_WORLD_RANK")) return from_open_mpi();
    if (has("PMI_RANK") && has("PMI_SIZE")) return from_hydra();
    if (has("SLURM_PROCID") && has("SLURM_STEP_ID")) return from_slurm();
    if (has("HCCL_STORE")) fail("HCCL_STORE is set, but RANK and WORLD_SIZE are not");
    return std::nullopt;
  }

 private:
  bool has(const char* name) const { return !text(name).empty(); }

  std::string text(const char* name) const {
    const char* value = get_(name);
    return value == nullptr ? std::string() : std::string(value);
  }

  [[noreturn]] static void fail(const std::string& what) { throw error(errc::invalid_argument, what); }

  std::string required(const char* name, const char* because_of) const {
    if (!has(name)) fail(concat(because_of, " is set, but ", name, " is not"));
    return text(name);
  }

  int number(const char* name, const char* because_of) const {
    const auto digits = required(name, because_of);
    int value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failure != std::errc() || end != digits.data() + digits.size()) {
      fail(concat(name, "='", digits, "' is not a whole number"));
    }
    return value;
  }

  launch_info named(const char* rank_name, const char* size_name, std::string store) const {
    launch_info info{number(rank_name, size_name), number(size_name, rank_name), std::move(store), {}};
    if (info.size < 1) fail(concat(size_name, '=', info.size, " is not a number of ranks"));
    info.origin = concat(rank_name, '=', info.rank, ", ", size_name, '=', info.size);
    return info;
  }

  launch_info from_torchrun_or_hand() const {
    auto info = named("RANK", "WORLD_SIZE", text("HCCL_STORE"));
    if (!info.store.empty() || info.size == 1) return info;
    const auto address = text("MASTER_ADDR");
    if (address.empty())
      fail("RANK and WORLD_SIZE are set, but neither HCCL_STORE nor MASTER_ADDR and MASTER_PORT are");
    const int port = number("MASTER_PORT", "MASTER_ADDR");
    const auto host = address.find(':') == address.npos ? address : concat('[', address, ']');
    // The agent of torchrun serves its own kind of store at that port. Restarted ranks must not read old
    // entries.
    const bool agent = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    info.store = concat(agent ? "torch" : "tcp", "://", host, ':', port);
    if (agent)
      info.store += concat('/', text("TORCHELASTIC_RUN_ID"), '.', text("TORCHELASTIC_RESTART_COUNT"));
    return info;
  }

  launch_info from_open_mpi() const {
    const auto ranks_here = text("OMPI_COMM_WORLD_LOCAL_SIZE");
    return named("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                 store_of_job(ranks_here == text("OMPI_COMM_WORLD_SIZE"), "openmpi",
                              first_of("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")));
  }

  launch_info from_hydra() const {
    const auto ranks_here = text("MPI_LOCALNRANKS");
    const bool one_host = ranks_here.empty() || ranks_here == text("PMI_SIZE");
    // The launcher's proxy is the parent of all ranks of a host.
    return named("PMI_RANK", "PMI_SIZE", store_of_job(one_host, "hydra", std::to_string(::getppid())));
  }

  launch_info from_slurm() const {
    const bool one_host = first_of("SLURM_STEP_NUM_NODES", "SLURM_NNODES") == "1";
    return named("SLURM_PROCID", has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS",
                 store_of_job(one_host, "slurm", concat(text("SLURM_JOB_ID"), '.', text("SLURM_STEP_ID"))));
  }

  std::string first_of(const char* name, const char* other) const {
    return has(name) ? text(name) : text(other);
  }

  /// The meeting point of a job whose launcher names none: a socket of this host that carries the name of the
  /// job.
  std::string store_of_job(bool one_host, const char* launcher, const std::string& job) const {
    if (has("HCCL_STORE")) return text("HCCL_STORE");
    if (has("MASTER_ADDR") && has("MASTER_PORT"))
      return concat("tcp://", text("MASTER_ADDR"), ':', text("MASTER_PORT"));
    if (!one_host) {
      fail(concat("the ranks of this ", launcher,
                  " job are on several hosts: set HCCL_STORE=tcp://host:port with the host of rank 0"));
    }
    return concat("unix:@hccl-", static_cast<unsigned long>(::getuid()), '-', launcher, '-', job);
  }

  environment get_;
};

}  // namespace detail

/// Finds out from the environment which rank this process is: `RANK`, `WORLD_SIZE` with `HCCL_STORE`
/// (hcclrun) or with `MASTER_ADDR`, `MASTER_PORT` (torchrun, or by hand), Open MPI, MPICH (hydra), Slurm;
/// else a world of one. `HCCL_STORE` names the meeting point under every launcher. Throws invalid_argument,
/// naming the variable, when a setting is not whole.
inline launch_info find_launch(detail::environment get = detail::process_environment) {
  return detail::launch_reader(get).find().value_or(launch_info());
}

/// Says whether this process was started as a rank of a job. Throws like find_launch().
inline bool launched(detail::environment get = detail::process_environment) {
  return detail::launch_reader(get).find().has_value();
}

}  // namespace hccl::inline v0
