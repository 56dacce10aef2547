// SPDX-License-Identifier: Apache-2.0

// A rank of a job that some launcher starts: connects twice, passes bytes around, and says so.

#include "transport/tcp_support.hpp"

#include <hccl/bootstrap/connect.hpp>
#include <hccl/transport/tcp.hpp>

#include <cstdio>
#include <exception>

int main() {
  try {
    for (int i = 0; i < 2; ++i) {
      auto comm = hccl::connect<hccl::TcpTransport>();
      if (!hccl_test::passes_around(comm.transport(), 100'000, false, i))
        throw hccl::error(hccl::errc::mismatch, "bytes");
      std::printf("rank %d of %d, time %d\n", comm.rank(), comm.size(), i);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
