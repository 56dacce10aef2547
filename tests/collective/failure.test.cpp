// SPDX-License-Identifier: Apache-2.0

// What happens when ranks disagree, come late, leave, abort or throw: an error on every rank, in time.

#include "allocations.hpp"
#include "collective/matrix.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hccl;
using namespace std::chrono_literals;

namespace {

using Comm = communicator<LocalTransport>;

/// Runs `f` on all ranks and returns the error of each; the test fails if a rank has none.
template <class F>
std::vector<error> failures(int ranks, F&& f) {
  std::vector<error> errors(static_cast<std::size_t>(ranks), error(errc::unsupported, "no error"));
  run_local(ranks, [&](Comm& comm) {
    comm.set_timeout(5s);
    const auto rank = static_cast<std::size_t>(comm.rank());  // `f` may take the communicator away
    try {
      f(comm);
    } catch (const error& e) {
      errors[rank] = e;
    }
  });
  return errors;
}

template <class F>
void check_mismatch(const std::string& word, F&& f) {
  const auto errors = failures(4, f);
  bool told = false;
  for (const error& e : errors) {
    INFO(e.what());
    CHECK(e.kind() == errc::mismatch);
    told |= std::string(e.what()).find(word) != std::string::npos;
  }
  CHECK(told);
}

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

TEST_CASE("ranks that call different collectives all learn it") {
  check_mismatch("called with count", [](Comm& comm) {
    std::vector<int> data(comm.rank() == 0 ? 4096u : 4094u);
    allreduce<int, Sum, Ring>(comm, data);
  });
  check_mismatch("another element type", [](Comm& comm) {
    std::vector<int> integers(8);
    std::vector<float> floats(8);
    comm.rank() == 1 ? allreduce<void, Sum, Mesh>(comm, integers) : allreduce<void, Sum, Mesh>(comm, floats);
  });
  check_mismatch("another reduction", [](Comm& comm) {
    std::vector<int> data(8);
    comm.rank() == 2 ? allreduce<int, Max, Mesh>(comm, data) : allreduce<int, Sum, Mesh>(comm, data);
  });
  check_mismatch("another collective", [](Comm& comm) {
    std::vector<int> data(8);
    comm.rank() == 3 ? reduce<int, Sum, Mesh>(comm, data, 0) : allreduce<int, Sum, Mesh>(comm, data);
  });
  check_mismatch("another algorithm", [](Comm& comm) {
    std::vector<int> data(8);
    comm.rank() == 0 ? allreduce<int, Sum, OneShotMesh>(comm, data) : allreduce<int, Sum, Mesh>(comm, data);
  });
}

TEST_CASE("a timeout names the rank that is late, and what was called") {
  const auto errors = failures(3, [](Comm& comm) {
    comm.set_timeout(200ms);
    std::vector<int> data(8);
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(1s);
      throw error(errc::timeout, "asleep");
    }
    allreduce<int, Sum, Mesh>(comm, data);
  });
  const std::string text = std::string(errors[0].what()) + errors[2].what();
  INFO(text);
  CHECK(errors[0].kind() == errc::timeout);
  CHECK(errors[2].kind() == errc::timeout);
  CHECK(text.find("allreduce #1 (8 x int32, Sum, mesh") != text.npos);
  CHECK(text.find("waiting for rank 1") != text.npos);
}

TEST_CASE("a rank that leaves is lost to all others") {
  const auto errors = failures(3, [](Comm& comm) {
    if (comm.rank() == 2) {
      const Comm leaves = std::move(comm);
      throw error(errc::peer_lost, "itself", 2);
    }
    std::vector<int> data(8);
    allreduce<int, Sum, Ring>(comm, data);
  });
  for (const error& e : errors) {
    INFO(e.what());
    CHECK(e.kind() == errc::peer_lost);
    CHECK(e.failed_rank() == 2);
  }
}

TEST_CASE("abort from another thread wakes every rank") {
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = failures(3, [](Comm& comm) {
    std::vector<int> data(8);
    if (comm.rank() == 0) {
      std::jthread aborter([&] {
        std::this_thread::sleep_for(50ms);
        comm.abort();
      });
      recv(comm, data, 1);
    } else if (comm.rank() == 1) {
      barrier(comm);
    } else {
      recv(comm, data, 0);
    }
  });
  for (const error& e : errors) {
    INFO(e.what());
    CHECK(e.kind() == errc::aborted);
  }
  CHECK(std::chrono::steady_clock::now() - begin < 4s);
}

TEST_CASE("an exception of a functor ends the collective on all ranks") {
  const auto throwing = [](Comm& comm) {
    std::vector<int> data(8, comm.rank());
    allreduce<int, std::plus<>, Mesh>(comm, data);
    allreduce(comm, data, [&](int a, int b) {
      if (comm.rank() == 1) throw std::domain_error("no sum today");
      return a + b;
    });
    barrier(comm);
  };
  CHECK_THROWS_AS(run_local(3, throwing), std::domain_error);
}

TEST_CASE("after a failure every call says so") {
  const auto errors = failures(2, [](Comm& comm) {
    std::vector<int> data(comm.rank() == 0 ? 1u : 2u);
    try {
      allreduce(comm, data);
    } catch (const error&) {
    }
    barrier(comm);
  });
  for (const error& e : errors) {
    INFO(e.what());
    CHECK(e.kind() == errc::aborted);
    CHECK(std::string(e.what()).find("failed before") != std::string::npos);
  }
}

TEST_CASE("a second thread on a communicator is an error, and disturbs nobody") {
  run_local(2, [](Comm& comm) {
    comm.set_timeout(20s);
    if (comm.rank() == 1) std::this_thread::sleep_for(300ms);
    std::atomic<bool> refused = false;
    std::jthread second;
    if (comm.rank() == 0) {
      second = std::jthread([&] {
        std::this_thread::sleep_for(100ms);
        try {
          barrier(comm);
        } catch (const error& e) {
          refused = e.kind() == errc::invalid_argument;
        }
      });
    }
    barrier(comm);
    if (second.joinable()) second.join();
    if (comm.rank() == 0 && !refused) throw std::logic_error("the second thread was let in");
    barrier(comm);
  });
  SUCCEED();
}

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
      for (int i = 0; i < 10; ++i) calls();
      const auto before = hccl_test::allocations_of_this_thread();
      for (int i = 0; i < 20; ++i) calls();
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
