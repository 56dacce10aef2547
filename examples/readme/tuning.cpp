// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>
#include <hccl/explain.hpp>
#include <hccl/tuning/read_tuning.hpp>

#include <cstdio>
#include <vector>

int main(int, char** arguments) {
  const char* path = arguments[1];
  hccl::run_local(8, [path](auto& comm) {
    hccl::tuning rules{
        {.algorithm = "nhr", .collective = "allreduce", .min_ranks = 4, .end_bytes = 64 << 10}};
    if (path) {
      const hccl::tuning more = hccl::read_tuning(path);
      rules.insert(rules.end(), more.begin(), more.end());
    }
    comm.set_hosts(hccl::topology({{4, 4}}));
    comm.set_tuning(rules);

    std::vector<float> gradients(1000, 1.0f);
    hccl::allreduce(comm, gradients);  // by the first rule
    if (comm.rank() == 0) {
      const auto e = hccl::explain(comm, hccl::AllReduce{}, 4000);
      std::printf("%s", to_string(e).c_str());
    }
  });
}
