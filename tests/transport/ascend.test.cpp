// SPDX-License-Identifier: Apache-2.0

#include "collective/devices.hpp"
#include "collective/matrix.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"
#include "transport_conformance.hpp"

#include <hccl/collective/async.hpp>
#include <hccl/collective/queue.hpp>
#include <hccl/collectives.hpp>
#include <hccl/core/bfloat16.hpp>
#include <hccl/core/float16.hpp>
#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/simulated_runtime.hpp>
#include <hccl/transport/ascend.hpp>

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace hccl_test;
using hccl::errc, hccl::Sum, hccl::Ring, hccl::Max;

namespace {

struct AscendHarness {
  static std::vector<Npus> make(int ranks) {
    std::vector<int> devices;
    for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % device_count);
    const Npus::world world(devices);
    std::vector<Npus> transports;
    for (int rank = 0; rank < ranks; ++rank) transports.push_back(world.transport(rank));
    return transports;
  }
};

/// Counts what devices reduce.
struct CountingRuntime : hccl::SimulatedRuntime {
  static inline std::atomic<int> reductions = 0;

  static void begin_reduce(void* to, const void* from, std::size_t bytes, const hccl::device_reduction& what,
                           stream on) {
    ++reductions;
    SimulatedRuntime::begin_reduce(to, from, bytes, what, on);
  }
};

/// How many reductions devices do in an allreduce of T by Op over two ranks.
template <class T, class Op>
int reductions_of() {
  using Net = hccl::AscendTransport<CountingRuntime>;
  CountingRuntime::reductions = 0;
  run_on_npus<Net>(2, [](hccl::communicator<Net>& comm) {
    const std::vector<T> ones(100, T(1));
    hccl::device_buffer<T, hccl::AscendAllocator<CountingRuntime>> data{std::span<const T>(ones)};
    hccl::allreduce<T, Op, Ring>(comm, data);
  });
  return CountingRuntime::reductions;
}

const auto rank_counts_of_npus = under_sanitizer ? std::vector{1, 2, 3} : std::vector{1, 2, 3, 4, 5, 8, 9};

/// Calls `f(checks, ranks, count, root, gap)` for devices of many ranks.
template <class T, class F>
void on_npus(F&& f) {
  for (const int ranks : rank_counts_of_npus) {
    for_each_count<T, Npus, OnNpu>(
        ranks, {0, 1, 5, 1000, large_count}, [](int n, auto&& rank) { run_on_npus(n, rank); },
        [&](auto& checks, std::size_t count, int root, std::size_t gap) {
          f(checks, ranks, count, root, gap);
        });
  }
  SUCCEED();
}

}  // namespace

static_assert(hccl::check_transport<Npus>());
static_assert(hccl::DeviceTransport<Npus> && !hccl::SharedAddressTransport<Npus>);
static_assert(!hccl::DeviceTransport<hccl::LocalTransport>);

TEST_CASE("AscendTransport conforms") { check_conformance<AscendHarness>(); }

TEMPLATE_TEST_CASE("reductions by every algorithm are right between NPUs", "", float, hccl_test::Matrix) {
  on_npus<TestType>([](auto& checks, int ranks, std::size_t count, int root, std::size_t) {
    check_reductions<all_algorithms>(checks, ranks, count, root);
  });
}

TEST_CASE("moves by every algorithm are right between NPUs") {
  on_npus<std::int8_t>([](auto& checks, int ranks, std::size_t count, int root, std::size_t gap) {
    check_spreading<all_algorithms>(checks, ranks, count, root, gap);
    check_personal<all_algorithms>(checks, ranks, count, root, gap);
  });
}

TEST_CASE("NPUs reduce themselves what they know, and the host the rest") {
  CHECK(reductions_of<float, Sum>() == 2);
  CHECK(reductions_of<hccl::float16, Sum>() == 2);
  CHECK(reductions_of<hccl::bfloat16, Sum>() == 2);
  CHECK(reductions_of<std::int8_t, Max>() == 2);
  CHECK(reductions_of<std::int32_t, hccl::Min>() == 2);
  CHECK(reductions_of<float, Max>() == 0);  // of a NaN
  CHECK(reductions_of<float, hccl::Product>() == 0);
  CHECK(reductions_of<double, Sum>() == 0);
  CHECK(reductions_of<std::int64_t, Max>() == 0);
  CHECK(reductions_of<std::uint8_t, Sum>() == 0);
  CHECK(reductions_of<std::complex<float>, Sum>() == 0);
}

TEST_CASE("more elements between NPUs than go in one piece") {
  constexpr std::size_t count = 1'000'003;
  run_on_npus(3, [](auto& comm) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i) + 0.25 * comm.rank();
    npu_buffer<double> in{std::span<const double>(values)}, out(count);
    const auto expect = [&](double base, double scale) {
      const auto found = values_of(out);
      for (std::size_t i = 0; i < count; ++i)
        require(found[i] == base + scale * static_cast<double>(i), "a wrong element");
    };
    hccl::allreduce<double, Sum, Ring>(comm, in, out);
    expect(0.75, 3);
    hccl::allreduce(comm, in, out, [](double a, double b) { return a < b ? b : a; });
    expect(0.5, 1);
    hccl::allreduce(comm, in, out, hccl::Average());
    expect(0.25, 1);
  });
  SUCCEED();
}

TEST_CASE("checked<Sum> names the element that overflows on an NPU") {
  CHECK_THROWS_WITH(run_on_npus(2,
                                [](auto& comm) {
                                  std::vector<std::int32_t> values(600'000);
                                  values[500'000] = std::numeric_limits<std::int32_t>::max();
                                  npu_buffer<std::int32_t> data{std::span<const std::int32_t>(values)};
                                  hccl::allreduce(comm, data, hccl::checked<Sum>());
                                }),
                    Catch::Contains("output[500000]"));
}

TEST_CASE("NPUs send and receive, also before they are asked, and to themselves") {
  run_on_npus(3, [](auto& comm) {
    const int next = (comm.rank() + 1) % 3, before = (comm.rank() + 2) % 3;
    const std::vector<int> mine(1000, comm.rank());
    npu_buffer<int> out{std::span<const int>(mine)}, in(1000), other(1000), held(1000);
    require(hccl::sendrecv(comm, out, next, in, before) == 1000, "sendrecv");
    require(values_of(in) == std::vector<int>(1000, before), "sendrecv: elements");

    hccl::batch_send_recv(comm,
                          {hccl::message::to(next, in, 2), hccl::message::to(next, out, 1),
                           hccl::message::to(comm.rank(), out, 3), hccl::message::from(before, other, 1),
                           hccl::message::from(before, held, 2)});  // comes first, and is held
    require(values_of(other) == std::vector<int>(1000, before), "batch_send_recv");
    require(values_of(held) == std::vector<int>(1000, (before + 2) % 3), "batch_send_recv, held");
    hccl::recv(comm, other.subspan(0, 1000), comm.rank(), 3);
    require(values_of(other) == mine, "recv from itself");
  });
  SUCCEED();
}

TEST_CASE("a message of the host does not travel between NPUs") {
  run_on_npus(2, [](auto& comm) {
    const std::vector<int> on_host(3);
    const auto outcome =
        outcome_of([&] { hccl::batch_send_recv(comm, {hccl::message::to(1 - comm.rank(), on_host)}); });
    require(outcome.is(errc::invalid_argument) && outcome.says("data is not of the memory"), outcome.text());
  });
  SUCCEED();
}

TEST_CASE("an operation_queue works on NPUs, from threads that have set no device") {
  run_on_npus(4, [](auto& comm) {
    const std::vector<float> ones(1000, 1.0f);
    npu_buffer<float> in{std::span<const float>(ones)}, out(1000);
    hccl::operation_queue<Npus> queue(std::move(comm));
    hccl::async::allreduce(queue, in, out).wait();
    hccl::async::broadcast(queue, out, 2).wait();
    require(values_of(out) == std::vector<float>(1000, 4.0f), "a wrong sum");
  });
  SUCCEED();
}

TEST_CASE("NPUs meet at a barrier") {
  run_on_npus(3, [](auto& comm) {
    hccl::barrier(comm);
    hccl::barrier<Ring>(comm);
  });
  SUCCEED();
}

TEST_CASE("NPUs work for threads that are in contexts of their own") {
  const auto outcomes = outcomes_on_npus(2, [](auto& comm) {
    npu_buffer<float> data(10);
    aclrtContext own = nullptr;
    aclrtCreateContext(&own, comm.rank());  // and works in it
    hccl::allreduce(comm, data);
    aclrtDestroyContext(own);
  });
  for (const Outcome& o : outcomes) CHECK(o.text().empty());
}

TEST_CASE("a rank that loses its NPU fails, and the others with it") {
  const auto outcomes = outcomes_on_npus(2, [](auto& comm) {
    npu_buffer<float> data(10);
    if (comm.rank() == 1) aclrtResetDeviceForce(1);
    hccl::allreduce(comm, data);
  });
  CHECK(outcomes[1].is(errc::device_failed));
  CHECK(outcomes[1].says("rank 1: allreduce: "));
  CHECK(outcomes[0].is(errc::device_failed));
}

TEST_CASE("a world of NPUs has no rank outside, and no device that there is not") {
  const Npus::world world(2);
  CHECK(outcome_of([&] { world.transport(2); }).says("there is no rank 2 in a world of 2 devices"));
  const Npus::world beyond(std::vector{0, 99});
  CHECK(outcome_of([&] { beyond.transport(1); }).is(errc::device_failed));
  CHECK(outcome_of([&] { beyond.transport(0); }).says("aclrtDeviceEnablePeerAccess"));
  CHECK(outcome_of([] { Npus::world(0); }).is(errc::invalid_argument));
  CHECK(outcome_of([] { Npus::world(-1); }).is(errc::invalid_argument));
}

TEST_CASE("an address of the host in a device_span is an error, not a crash") {
  const auto outcomes = outcomes_on_npus(2, [](auto& comm) {
    npu_buffer<float> in(100);
    std::vector<float> on_host(100);
    const hccl::device_span<float, OnNpu> out(on_host.data(), on_host.size());
    hccl::allreduce<float, Sum, Ring>(comm, in, out);
  });
  for (const Outcome& o : outcomes)
    CHECK_THAT(o.text(), Catch::Contains("aclrtReduceAsync: dst and src are to be memory of device"));
}
