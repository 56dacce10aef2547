// SPDX-License-Identifier: Apache-2.0

#include "allocations.hpp"

#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

using namespace hccl;
using hccl_test::for_each_algorithm;

TEST_CASE("no collective allocates in the steady state") {
  for (const auto& hosts : {topology(), topology({{2, 1}})}) {
    CHECK_NOTHROW(run_local(3, [&](communicator<LocalTransport>& comm) {
      comm.set_hosts(hosts);
      const std::vector<std::size_t> counts{100, 0, 300}, offsets{301, 301, 0}, equal{100, 100, 100};
      const shares parts(counts, offsets);
      const std::size_t own = counts[static_cast<std::size_t>(comm.rank())];
      const std::vector<std::size_t> matrix(9, 100);
      std::vector<float> one(500, 1.0f), other(500, 1.0f);
      const auto some = std::span(one).first(100), share = std::span(one).first(own);
      const auto all = std::span(other).first(300), room = std::span(other).first(401);
      const auto check = [&](auto&& call) {
        for (int i = 0; i < 3; ++i) call();
        const auto before = hccl_test::allocations_of_this_thread();
        for (int i = 0; i < 5; ++i) call();
        const auto made = hccl_test::allocations_of_this_thread() - before;
        if (made > 0) throw std::logic_error(detail::concat("allocations: ", made));
      };
      for_each_algorithm<Scan>([&]<class A>() { check([&] { scan<float, Sum, A>(comm, one, other); }); });
      for_each_algorithm<ExScan>([&]<class A>() { check([&] { exscan<float, Sum, A>(comm, one); }); });
      for_each_algorithm<ReduceScatter>([&]<class A>() {
        check([&] { reduce_scatterv<float, Sum, A>(comm, room, share, parts); });
        check(
            [&] { reduce_scatterv<float, PreMulSum<float>, A>(comm, room, share, parts, PreMulSum{0.5f}); });
      });
      for_each_algorithm<AllGather>(
          [&]<class A>() { check([&] { allgatherv<float, A>(comm, share, room, parts); }); });
      for_each_algorithm<Gather>([&]<class A>() {
        check([&] { gather<float, A>(comm, some, all, 1); });
        check([&] { gatherv<float, A>(comm, share, room, parts, 2); });
      });
      for_each_algorithm<Scatter>([&]<class A>() {
        check([&] { scatter<float, A>(comm, all, some, 1); });
        check([&] { scatterv<float, A>(comm, room, share, parts, 2); });
      });
      for_each_algorithm<AllToAll>([&]<class A>() { check([&] { alltoall<float, A>(comm, all); }); });
      for_each_algorithm<AllToAllV>([&]<class A>() {
        check([&] { alltoallv<float, A>(comm, all, equal, std::span(one).first(300), equal); });
        check([&] { alltoallv<float, A>(comm, all, std::span(one).first(300), matrix); });
      });
      check([&] {
        const int next = (comm.rank() + 1) % 3, previous = (comm.rank() + 2) % 3;
        batch_send_recv(comm, {message::to(next, some), message::from(previous, all.first(100))});
      });
    }));
  }
}
