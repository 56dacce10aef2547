// SPDX-License-Identifier: Apache-2.0

// Measures the collectives of hccl, with the options of nccl-tests.

#include "hccl_library.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/shm.hpp>
#include <hccl/transport/tcp.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

namespace {

template <class T>
using private_vector = std::vector<T>;

/// Measures on one rank. Throws if an element is wrong.
void run(const perf::options& chosen, auto& comm) {
  const std::size_t wrong = chosen.buffers == "shared" ? perf::measure_hccl<hccl::shared_vector>(chosen, comm)
                                                       : perf::measure_hccl<private_vector>(chosen, comm);
  if (wrong > 0) throw std::runtime_error(fmt::format("{} elements are wrong", wrong));
}

/// Runs the ranks that a launcher has started, or forks some.
template <class Net>
void run_on_processes(const perf::options& chosen) {
  const auto f = [&](hccl::communicator<Net>& comm) { run(chosen, comm); };
  if (chosen.ranks > 0 || !hccl::launched())
    return hccl::run_processes<Net>(chosen.ranks > 0 ? chosen.ranks : 2, f);
  auto comm = hccl::connect<Net>();
  f(comm);
}

}  // namespace

int main(int argc, char** argv) {
  const perf::options chosen = perf::read_options(argc, argv);
  try {
    if (chosen.transport == "local") {
      if (hccl::launched()) throw std::invalid_argument("--transport local: threads need no launcher");
      hccl::run_local(chosen.ranks > 0 ? chosen.ranks : 2, [&](auto& comm) { run(chosen, comm); });
    } else if (chosen.transport == "tcp") {
      run_on_processes<hccl::TcpTransport>(chosen);
    } else {
      run_on_processes<hccl::ShmTransport>(chosen);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "hccl_perf: %s\n", e.what());
    return 1;
  }
}
