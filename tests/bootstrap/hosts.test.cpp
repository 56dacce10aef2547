// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport/tcp_support.hpp"

#include <hccl/algorithm/ahc.hpp>
#include <hccl/bootstrap/connect.hpp>
#include <hccl/collective/allreduce.hpp>
#include <hccl/transport/tcp.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

using hccl::connect, hccl::errc, hccl::error, hccl::TcpTransport;
using namespace hccl_test;

namespace {

std::vector<int> bounds_of(const std::vector<std::string>& names) {
  const auto hosts = hccl::detail::hosts_of(names);
  return hosts.bounds().empty() ? std::vector<int>() : hosts.bounds().front();
}

}  // namespace

TEST_CASE("ranks with one host name in a row share a host") {
  CHECK(bounds_of({"a", "a", "a", "b"}) == std::vector{0, 3, 4});
  CHECK(bounds_of({"a", "b", "c"}) == std::vector{0, 1, 2, 3});
  CHECK(bounds_of({"a", "a"}).empty());
  CHECK(bounds_of({"a", "b", "a"}).empty());
}

TEST_CASE("connect knows which ranks share a host") {
  const auto store = "unix:@hccl-test-" + hccl::detail::random_name();
  const auto outcomes = forked(5, [&](int rank) {
    if (::unshare(CLONE_NEWUTS) != 0) return;  // takes a privilege; then there is nothing to see
    const std::string host = rank < 3 ? "north" : "south";
    if (::sethostname(host.data(), host.size()) != 0) throw error(errc::bootstrap_failed, "sethostname");
    auto comm =
        connect<TcpTransport>({.rank = rank, .size = 5, .store = store, .timeout = std::chrono::seconds(20)});
    const std::vector hosts{0, 3, 5};
    if (comm.hosts().bounds().size() != 1 || comm.hosts().bounds().front() != hosts)
      throw error(errc::mismatch, "other hosts");
    std::vector<int> data(1000, rank);
    hccl::allreduce<int, hccl::Sum, hccl::AHC>(comm, data);
    if (data != std::vector<int>(1000, 10)) throw error(errc::mismatch, "another sum");
  });
  for (const auto& outcome : outcomes) CHECK(outcome.error == "");
}
