// SPDX-License-Identifier: Apache-2.0

// The collectives over LocalTransport: the ranks are threads.

#include "measure.hpp"

#include <hccl/collectives.hpp>

#include <string_view>
#include <vector>

namespace {

struct Threads {
  static constexpr std::string_view name = hccl::LocalTransport::name;

  template <class F>
  static std::vector<double> run(int ranks, int /*rounds*/, F f) {
    std::vector<double> result;
    hccl::run_local(ranks, [&](auto& comm) {
      auto seconds = f(comm);
      if (comm.rank() == 0) result.swap(seconds);
    });
    return result;
  }
};

}  // namespace

int main(int argc, char** argv) { return hccl_bench::run<Threads>(argc, argv); }
