// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/collective/async.hpp>
#include <hccl/collective/queue.hpp>
#include <hccl/collectives.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using hccl::operation_queue, hccl::request, hccl_test::outcome_of, hccl_test::require;

namespace {

/// Runs f(queue) on threads, each with a queue over its communicator.
template <class F>
void with_queues(int ranks, F&& f) {
  hccl::run_local(ranks, [&](auto& comm) {
    comm.set_timeout(hccl_test::patience);
    operation_queue queue(std::move(comm));
    f(queue);
  });
}

}  // namespace

TEST_CASE("every collective runs in the background") {
  with_queues(3, [](auto& queue) {
    const int rank = queue.rank(), size = queue.size();
    std::vector<int> sum{rank, 1}, own{rank}, all(3), part(1), column(3), row{rank, rank, rank}, word{rank},
        total(1), from_left(1);
    std::vector<request> requests{hccl::async::allreduce(queue, sum),
                                  hccl::async::allgather(queue, own, all),
                                  hccl::async::reduce_scatter(queue, row, part),
                                  hccl::async::alltoall(queue, row, column),
                                  hccl::async::broadcast(queue, word, 2),
                                  hccl::async::reduce(queue, own, total, 1),
                                  hccl::async::barrier(queue),
                                  hccl::async::send(queue, own, (rank + 1) % size),
                                  hccl::async::recv(queue, from_left, (rank + size - 1) % size)};
    for (const request& each : requests) each.wait();
    require(sum == std::vector{3, 3}, "allreduce");
    require(all == std::vector{0, 1, 2}, "allgather");
    require(part == std::vector{3}, "reduce_scatter");
    require(column == std::vector{0, 1, 2}, "alltoall");
    require(word == std::vector{2}, "broadcast");
    require(rank != 1 || total == std::vector{3}, "reduce");
    require(from_left == std::vector{(rank + size - 1) % size}, "send and recv");
  });
}

TEST_CASE("operations run in the order in which they were enqueued, while the caller goes on") {
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  std::atomic<int> waiting = 2;
  with_queues(2, [&](auto& queue) {
    std::vector<int> order;
    queue.enqueue([&](auto&) { opened.wait(); });
    std::vector<request> requests;
    for (int i = 0; i < 50; ++i)
      requests.push_back(queue.enqueue([&order, i](auto&) { order.push_back(i); }));
    require(!requests.back().test(), "the operation has ended before one that was enqueued earlier");
    if (--waiting == 0) gate.set_value();
    requests.back().wait();
    require(requests.front().test(), "an earlier operation has not ended");
    std::vector<int> expected(50);
    std::iota(expected.begin(), expected.end(), 0);
    require(order == expected, "another order");
  });
}

TEST_CASE("a request throws what its operation threw, as often as it is asked, and later ones fail too") {
  with_queues(2, [](auto& queue) {
    const bool is_wrong = queue.rank() == 1;
    std::vector<int> data(is_wrong ? 3 : 2);
    const request first = hccl::async::allreduce(queue, data), second = hccl::async::barrier(queue);
    for (int time = 0; time < 2; ++time) {
      const auto failure = outcome_of([&] { first.wait(); });
      require(failure.is(hccl::errc::mismatch) || failure.is(hccl::errc::aborted), failure.text());
    }
    require(outcome_of([&] { second.wait(); }).is(hccl::errc::aborted), "a later operation did not fail");
    const request thrown = queue.enqueue([](auto&) { throw std::domain_error("mine"); });
    require(outcome_of([&] {
              thrown.test();
              thrown.wait();
            }).other == "mine",
            "another exception");
  });
}

TEST_CASE("a request may be waited for with a deadline") {
  with_queues(2, [](auto& queue) {
    std::promise<void> gate;
    const request slow = queue.enqueue([&](auto&) { gate.get_future().wait(); });
    require(outcome_of([&] { slow.wait(hccl::deadline::after(10ms)); }).is(hccl::errc::timeout),
            "no timeout");
    gate.set_value();
    slow.wait(hccl::deadline::after(hccl_test::patience));
    require(request().test(), "no operation has not ended");
  });
}

TEST_CASE("two queues are independent, in any order") {
  hccl::LocalTransport::world one(2), two(2);
  std::vector<std::jthread> ranks;
  std::atomic<int> right = 0;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      operation_queue first(hccl::communicator(one.transport(rank))),
          second(hccl::communicator(two.transport(rank)));
      std::vector<int> a{1}, b{2};
      // Rank 1 enqueues in the other order; neither waits for the other queue.
      const request x = rank == 0 ? hccl::async::allreduce(first, a) : hccl::async::allreduce(second, b);
      const request y = rank == 0 ? hccl::async::allreduce(second, b) : hccl::async::allreduce(first, a);
      x.wait(), y.wait();
      right += a[0] == 2 && b[0] == 4;
    });
  }
  ranks.clear();
  CHECK(right == 2);
}

TEST_CASE("a queue ends when all that was enqueued has ended, and abort ends it at once") {
  std::vector<int> sums(2);
  with_queues(2, [&](auto& queue) {
    int& sum = sums[static_cast<std::size_t>(queue.rank())];
    for (int i = 0; i < 20; ++i) queue.enqueue([&sum](auto& comm) { hccl::barrier(comm), ++sum; });
  });
  CHECK(sums == std::vector{20, 20});

  with_queues(2, [](auto& queue) {
    if (queue.rank() == 1) {  // does not come
      std::this_thread::sleep_for(50ms);
      queue.abort(hccl::error(hccl::errc::aborted, "enough", 1));
      return;
    }
    const auto failure = outcome_of([&] { hccl::async::barrier(queue).wait(); });
    require(failure.is(hccl::errc::aborted) && failure.says("enough"), failure.text());
  });
}
