// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "collective/matrix.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"
#include "transport/connected.hpp"
#include "transport_conformance.hpp"

#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/host.hpp>

#include <atomic>
#include <cstddef>
#include <future>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using hccl_test::Connected, hccl_test::outcome_of, hccl_test::require;

/// Shared memory as if every third rank were on another host.
class NearOfThree : public hccl::ShmTransport {
 public:
  class listener {
   public:
    explicit listener(const std::string& towards = {}) : own_(towards) {
      host_ = listeners++ % 3 == 2 ? '2' : '1';
    }
    std::string address() const { return host_ + own_.address(); }

   private:
    friend NearOfThree;
    hccl::ShmTransport::listener own_;
    char host_;
  };

  NearOfThree(listener own, int rank, int size, std::vector<std::string> addresses, const std::string& job,
              std::vector<int> names)
      : ShmTransport(std::move(own.own_), rank, size, without_host(std::move(addresses)), job,
                     std::move(names)) {}

  /// So many have been made; 0 before those of a world in which ranks 2, 5, ... are on the second host.
  static inline std::atomic<int> listeners = 0;

  static bool share_host(const std::string& one, const std::string& other) { return one[0] == other[0]; }
  NearOfThree channel(int id) { return NearOfThree(ShmTransport::channel(id)); }

 private:
  explicit NearOfThree(ShmTransport net) : ShmTransport(std::move(net)) {}

  static std::vector<std::string> without_host(std::vector<std::string> addresses) {
    for (auto& address : addresses) address.erase(0, 1);
    return addresses;
  }
};

using OnTwoHosts = hccl::HybridTransport<NearOfThree, hccl::TcpTransport>;

/// Calls f(comm) on threads, one for each of n ranks.
template <class Net>
void run_on_threads(int n, auto&& f) {
  NearOfThree::listeners = 0;
  std::vector<std::future<void>> ranks;
  for (auto& net : Connected<Net>::make(n)) {
    ranks.push_back(std::async(std::launch::async, [&f, net = std::move(net)]() mutable {
      hccl::communicator comm(std::move(net));
      f(comm);
    }));
  }
  for (auto& rank : ranks) rank.get();
}

}  // namespace

TEST_CASE("HostTransport conforms") { hccl_test::check_conformance<Connected<hccl::HostTransport>>(); }

TEST_CASE("HybridTransport conforms where ranks have two hosts") {
  hccl_test::check_conformance<Connected<OnTwoHosts>>();
}

TEST_CASE("collectives are right on ranks of two hosts") {
  using Algorithms =
      std::tuple<hccl::Ring, hccl::Mesh, hccl::RecursiveHalvingDoubling, hccl::BinomialTree, hccl::Auto>;
  for (const int ranks : {2, 3, 5}) {
    hccl_test::for_each_count<float, OnTwoHosts>(
        ranks, {0, 1, 5, 1000, hccl_test::large_count},
        [](int n, auto&& f) { run_on_threads<OnTwoHosts>(n, f); },
        [&](auto& checks, std::size_t count, int root, std::size_t gap) {
          hccl_test::check_reductions<Algorithms>(checks, ranks, count, root);
          hccl_test::check_spreading<Algorithms>(checks, ranks, count, root, gap);
        });
  }
  SUCCEED();
}

TEST_CASE("ranks of one host work directly in shared buffers") {
  CHECK_NOTHROW(hccl::run_processes<hccl::HostTransport>(3, [](auto& comm) {
    require(comm.transport().shares_addresses(), "three ranks of one host do not share memory");
    hccl::shared_vector<int> data(100'000, comm.rank());
    hccl::allreduce<int, hccl::Sum, hccl::Direct>(comm, data);
    require(data == hccl::shared_vector<int>(100'000, 3), "a wrong sum");
  }));
}

TEST_CASE("Direct is refused where ranks have two hosts") {
  std::atomic<int> refusals = 0;
  run_on_threads<OnTwoHosts>(3, [&](auto& comm) {
    std::vector<int> data(10);
    const auto failure = outcome_of([&] { hccl::allreduce<int, hccl::Sum, hccl::Direct>(comm, data); });
    if (failure.is(hccl::errc::unsupported) || failure.is(hccl::errc::aborted)) ++refusals;
  });
  CHECK(refusals == 3);
}

TEST_CASE("errors call the ranks of a host by their numbers in the world") {
  // Ranks 2 and 5 are on the second host, where they have the numbers 0 and 1.
  std::atomic<bool> is_named = false;
  run_on_threads<OnTwoHosts>(6, [&](auto& comm) {
    if (comm.rank() != 2) return;
    comm.set_timeout(hccl_test::patience);
    std::vector<int> data(10);
    const auto failure = outcome_of([&] { hccl::recv(comm, data, 5); });
    is_named = failure.is(hccl::errc::peer_lost) && failure.error->failed_rank() == 5 &&
               failure.says("rank 2: rank 5 has left");
  });
  CHECK(is_named);
}
