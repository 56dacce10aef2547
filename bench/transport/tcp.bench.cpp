// SPDX-License-Identifier: Apache-2.0

// The collectives over TcpTransport: the ranks are processes of this host.

#include "measure.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/transport/tcp.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace {

/// Memory into which a forked rank writes what the parent reads.
auto shared_array(std::size_t count) {
  const std::size_t bytes = count * sizeof(double);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const auto release = [bytes](double* begin) { ::munmap(begin, bytes); };
  return std::unique_ptr<double[], decltype(release)>(static_cast<double*>(memory), release);
}

struct Processes {
  static constexpr std::string_view name = hccl::TcpTransport::name;

  template <class F>
  static std::vector<double> run(int ranks, int rounds, F f) {
    const auto count = static_cast<std::size_t>(rounds);
    const auto result = shared_array(count);
    hccl::run_processes<hccl::TcpTransport>(ranks, [&](auto& comm) {
      const auto seconds = f(comm);
      if (comm.rank() == 0) std::ranges::copy(seconds, result.get());
    });
    return {result.get(), result.get() + count};
  }
};

}  // namespace

int main(int argc, char** argv) { return hccl_bench::run<Processes>(argc, argv); }
