// SPDX-License-Identifier: Apache-2.0

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/transport/tcp.hpp>

#include <stdexcept>

int main() {
  hccl::run_processes<hccl::TcpTransport>(3, [](hccl::communicator<hccl::TcpTransport>& comm) {
    int value[] = {comm.rank() + 1};
    hccl::allreduce(comm, value);
    if (value[0] != 6) throw std::runtime_error("1 + 2 + 3 is 6");
  });
}
