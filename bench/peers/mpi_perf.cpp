// SPDX-License-Identifier: Apache-2.0

// Measures an MPI library the way hccl_perf measures hccl. Run it with that library's mpirun.

#include "trial.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// The beginning of what the library says of itself.
std::string version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  std::string line(text, static_cast<std::size_t>(size));
  line.resize(line.find_first_of(",\n"));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

/// What is compared: broadcast is in place in MPI; reduce_scatter leaves its result elsewhere when it is.
bool is_offered(const perf::point& where) {
  if (where.collective == "broadcast") return where.in_place;
  return !where.in_place || where.collective == "allreduce" || where.collective == "allgather";
}

void call(const perf::point& where, std::span<float> in, std::span<float> out, int root, int size) {
  const std::string& collective = where.collective;
  const void* const from = where.in_place ? MPI_IN_PLACE : in.data();
  const int puts = static_cast<int>(in.size()), gets = static_cast<int>(out.size());
  const MPI_Comm all = MPI_COMM_WORLD;
  if (collective == "allreduce") {
    MPI_Allreduce(from, out.data(), gets, MPI_FLOAT, MPI_SUM, all);
  } else if (collective == "reduce_scatter") {
    MPI_Reduce_scatter_block(from, out.data(), gets, MPI_FLOAT, MPI_SUM, all);
  } else if (collective == "allgather") {
    MPI_Allgather(from, puts, MPI_FLOAT, out.data(), puts, MPI_FLOAT, all);
  } else if (collective == "reduce") {
    MPI_Reduce(from, out.data(), puts, MPI_FLOAT, MPI_SUM, root, all);
  } else if (collective == "alltoall") {
    MPI_Alltoall(from, puts / size, MPI_FLOAT, out.data(), puts / size, MPI_FLOAT, all);
  } else if (collective == "broadcast") {
    MPI_Bcast(out.data(), gets, MPI_FLOAT, root, all);
  } else {
    MPI_Barrier(all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const perf::options chosen = perf::read_options(argc, argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto prepare = [&](const perf::point& where) -> perf::trial {
    if (!is_offered(where)) return {};
    const auto run = [&, where](std::span<float> in, std::span<float> out) {
      call(where, in, out, chosen.root, size);
    };
    return perf::make_sum(where, rank, size, chosen.root, run);
  };
  const auto barrier = [] { MPI_Barrier(MPI_COMM_WORLD); };
  const auto max = [](std::vector<double>& all) {
    MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
  };
  const std::size_t wrong =
      perf::measure(chosen, {version(), "mpi", "own", rank, size, sizeof(float), barrier, max, prepare});
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
