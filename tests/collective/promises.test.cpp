// SPDX-License-Identifier: Apache-2.0

// What collectives promise beside the right values, and that the checker of values can fail.

#include "allocations.hpp"
#include "collective/matrix.hpp"
#include "reference.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

using namespace hccl;

namespace {

using Comm = communicator<LocalTransport>;

/// An allgather that leaves the right elements in another order.
struct Permuting {
  static constexpr std::string_view name = "permuting";
  static constexpr int rounds(AllGather, const group&) { return 1; }
  static constexpr void steps(AllGather, const group& g, int self, int, auto&& emit) {
    for (int peer = 0; peer < g.size(); ++peer) {
      emit(send_step(peer, {self}, place::input));
      emit(receive_step(peer, {g.size() - 1 - peer}, place::output));
    }
  }
};

}  // namespace

TEST_CASE("collectives allocate nothing in the steady state") {
  run_local(3, [](Comm& comm) {
    struct Odd {
      unsigned char bytes[12];
    };
    std::vector<float> in(1000, 1.0f), out(1000), all(3000);
    std::vector<Odd> odd(77);
    const auto pick = [](const Odd& a, const Odd&) { return a; };
    hccl_test::for_each_algorithm([&]<class A>() {
      const auto calls = [&] {
        allreduce<float, Sum, A>(comm, in, out);
        allreduce<float, Average, A>(comm, in, out);
        allreduce<Odd, decltype(pick), A>(comm, odd, pick);
        if constexpr (hccl_test::can_do<A, AllGather>) allgather<float, A>(comm, in, all);
        if constexpr (hccl_test::can_do<A, ReduceScatter>) reduce_scatter<float, Sum, A>(comm, all, in);
        if constexpr (hccl_test::can_do<A, Reduce>) reduce<float, Sum, A>(comm, in, out, 1);
        if constexpr (hccl_test::can_do<A, Broadcast>) broadcast<float, A>(comm, out, 2);
        barrier<A>(comm);
        const int next = (comm.rank() + 1) % 3, previous = (comm.rank() + 2) % 3;
        sendrecv(comm, in, next, out, previous);
      };
      for (int i = 0; i < 3; ++i) calls();
      const auto before = hccl_test::allocations_of_this_thread();
      for (int i = 0; i < 5; ++i) calls();
      const auto made = hccl_test::allocations_of_this_thread() - before;
      if (made > 0) throw std::logic_error(detail::concat(A::name, " allocates: ", made));
    });
  });
  SUCCEED();
}

TEST_CASE("case A24: a permuted result turns the checker red") {
  CHECK_FALSE(verify<Permuting, AllGather>(group(3)));
  const hccl_test::Reference<int> world(3, 30);
  CHECK_THROWS_AS(run_local(3,
                            [&](Comm& comm) {
                              hccl_test::CollectiveChecks<int, LocalTransport> checks(comm, world);
                              checks.check_allgather<Permuting>(10);
                            }),
                  std::runtime_error);
}

TEST_CASE("case A30: no collective writes into a send buffer") {
  for (const int ranks : {2, 3, 5, 8}) {
    run_local(ranks, [&](Comm& comm) {
      hccl_test::for_each_algorithm([&]<class A>() {
        std::vector<int> in(24 * static_cast<std::size_t>(ranks)), out(in.size()),
            all(in.size() * static_cast<std::size_t>(ranks));
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = comm.rank() * 7919 + static_cast<int>(i);
        const auto before = in;
        allreduce<int, Sum, A>(comm, in, out);
        if constexpr (hccl_test::can_do<A, AllGather>) allgather<int, A>(comm, in, all);
        if constexpr (hccl_test::can_do<A, ReduceScatter>)
          reduce_scatter<int, Sum, A>(comm, in, std::span(out).first(24));
        if constexpr (hccl_test::can_do<A, Reduce>) reduce<int, Sum, A>(comm, in, out, ranks - 1);
        if constexpr (hccl_test::can_do<A, Broadcast>) broadcast<int, A>(comm, in, out, ranks - 1);
        allreduce<int, Average, A>(comm, in, out);
        if (in != before) throw std::logic_error(detail::concat(A::name, " writes into the send buffer"));
      });
    });
  }
  SUCCEED();
}
