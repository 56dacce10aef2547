// SPDX-License-Identifier: Apache-2.0

// Buffers of a device over transports that do not reach it.

#include "collective/devices.hpp"
#include "collective/matrix_on_processes.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/bootstrap/run_local.hpp>
#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collective/async.hpp>
#include <hccl/collective/queue.hpp>
#include <hccl/collectives.hpp>
#include <hccl/transport/shm.hpp>
#include <hccl/transport/tcp.hpp>

#include <acl/acl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace hccl_test;
using hccl::errc, hccl::Sum, hccl::Ring;

namespace {

/// An allocator as a user writes one: memory that hccl is told not to touch, and a plain copy.
struct FarAllocator {
  static constexpr hccl::memory_kind kind = hccl::memory_kind::device;
  static constexpr std::size_t alignment = 64;
  static constexpr std::uintptr_t disguise = 0x0fff'0000'0000'0000;  // no host address

  void* allocate(std::size_t bytes) { return disguised(hccl::HostAllocator().allocate(bytes)); }
  void deallocate(void* memory, std::size_t bytes) noexcept {
    hccl::HostAllocator().deallocate(disguised(memory), bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes, hccl::copy_direction direction) {
    using enum hccl::copy_direction;
    if (direction != device_to_host) to = disguised(to);
    if (direction != host_to_device) from = disguised(const_cast<void*>(from));
    std::memcpy(to, from, bytes);
  }

 private:
  static void* disguised(void* memory) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) ^ disguise);
  }
};
static_assert(hccl::check_device_allocator<FarAllocator>());

using Algorithms = std::tuple<Ring, hccl::RecursiveHalvingDoubling, hccl::Mesh, hccl::Bruck, hccl::Auto>;
const std::set<std::size_t> usual_counts{0, 1, 5, 1000, 40'000};

/// Sets device r modulo 8 for rank r.
void set_device(int rank) {
  aclInit(nullptr);
  aclrtSetDevice(rank % device_count);
}

/// Checks every collective on ranks with a device each, whose buffers are of the Allocator. `run(n, f)` calls f(comm) on
/// n ranks.
template <class T, class Net, class Allocator, class As = Algorithms, class Run>
void check(int ranks, const std::set<std::size_t>& counts, Run&& run) {
  for_each_count<T, Net, Allocator>(
      ranks, counts,
      [&](int n, auto&& rank) {
        run(n, [&](auto& comm) {
          set_device(comm.rank());
          rank(comm);
        });
      },
      [&](auto& checks, std::size_t count, int root, std::size_t gap) {
        check_reductions<As>(checks, ranks, count, root);
        check_spreading<As>(checks, ranks, count, root, gap);
        check_personal<As>(checks, ranks, count, root, gap);
      });
}

template <class T, class Allocator, class As = Algorithms>
void check_threads(int ranks, const std::set<std::size_t>& counts = usual_counts) {
  check<T, hccl::LocalTransport, Allocator, As>(ranks, counts,
                                                [](int n, auto&& rank) { hccl::run_local(n, rank); });
}

template <class Net>
void check_processes(int ranks) {
  check<float, Net, OnNpu>(ranks, usual_counts,
                           [](int n, auto&& rank) { hccl::run_processes<Net>(n, rank); });
}

/// Elements that travel as others.
struct Three {
  float x, y, z;
};

struct Norm {
  static constexpr std::string_view name = "norm";
  template <class T>
  using accumulator = double;
  double prepare(const Three& t, int) const { return static_cast<double>(t.x + t.y + t.z); }
  double operator()(double a, double b) const { return a + b; }
  template <class T>
  T finish(double sum, int) const {
    return {static_cast<float>(sum), 0, 0};
  }
};

}  // namespace

TEST_CASE("buffers of a device go through the host between threads") {
  for (const int ranks : few_rank_counts) {
    CHECK_NOTHROW(check_threads<hccl_test::Matrix, OnNpu>(ranks));
    CHECK_NOTHROW(check_threads<float, FarAllocator>(ranks));
  }
}

TEST_CASE("buffers of a device go through the host in pieces") {
  CHECK_NOTHROW((check_threads<float, FarAllocator, std::tuple<Ring, hccl::Auto>>(3, {1'500'001})));
}

TEST_CASE("buffers of a device go through the host between processes") {
  for (const int ranks : {2, 3}) {
    CHECK_NOTHROW(check_processes<hccl::ShmTransport>(ranks));
    CHECK_NOTHROW(check_processes<hccl::TcpTransport>(ranks));
  }
}

TEST_CASE("what is done before and after a reduction is done to each piece of a buffer of a device") {
  constexpr std::size_t count = 3'000'001;
  hccl::run_local(2, [](Comm& comm) {
    set_device(comm.rank());
    std::vector<float> values(count, static_cast<float>(comm.rank()));
    npu_buffer<float> data{std::span<const float>(values)};
    hccl::allreduce(comm, data, hccl::Average());
    require(values_of(data) == std::vector<float>(count, 0.5f), "a wrong mean");
    hccl::allreduce(comm, data, hccl::accumulate_in<double, Sum>());
    require(values_of(data) == std::vector<float>(count, 1.0f), "a wrong sum");
  });
  SUCCEED();
}

TEST_CASE("checked<Sum> names the element that overflows in a buffer that goes in pieces") {
  constexpr std::size_t count = 3'000'000, place = 2'900'001;
  CHECK_THROWS_WITH(hccl::run_local(2,
                                    [](Comm& comm) {
                                      set_device(comm.rank());
                                      std::vector<std::int32_t> values(count);
                                      values[place] = std::numeric_limits<std::int32_t>::max();
                                      npu_buffer<std::int32_t> data{std::span<const std::int32_t>(values)};
                                      hccl::allreduce(comm, data, hccl::checked<Sum>());
                                    }),
                    Catch::Contains("output[2900001]"));
}

TEST_CASE("messages of a device go through the host") {
  hccl::run_local(3, [](Comm& comm) {
    set_device(comm.rank());
    comm.set_timeout(patience);
    const int next = (comm.rank() + 1) % 3, before = (comm.rank() + 2) % 3;
    const std::vector<int> mine(1000, comm.rank()), theirs(1000, before);
    npu_buffer<int> out{std::span<const int>(mine)}, in(1200), other(1000);
    require(hccl::sendrecv(comm, out, next, in, before) == 1000, "sendrecv");
    auto found = values_of(in);
    found.resize(1000);
    require(found == theirs, "sendrecv: elements");
    hccl::batch_send_recv(comm, {hccl::message::to(next, out, 1), hccl::message::to(comm.rank(), out, 3),
                                 hccl::message::from(before, other, 1)});
    require(values_of(other) == theirs, "batch_send_recv");
    hccl::recv(comm, other, comm.rank(), 3);
    require(values_of(other) == mine, "recv from itself");
    if (comm.rank() == 0) hccl::send(comm, std::vector<int>(1000, 5), 1, 9);  // of the host, to a device
    if (comm.rank() == 1) hccl::recv(comm, other, 0, 9);
    if (comm.rank() == 1) require(values_of(other) == std::vector<int>(1000, 5), "recv");

    std::vector<int> on_host(1000);
    const auto mixed = outcome_of([&] {
      hccl::batch_send_recv(comm, {hccl::message::to(next, out), hccl::message::from(before, on_host)});
    });
    require(mixed.is(errc::invalid_argument) && mixed.says("data is of other memory"), mixed.text());
  });
  SUCCEED();
}

TEST_CASE("a rank that has set no device says so, and the others are told") {
  std::vector<Outcome> outcomes = outcomes_of(2, [](Comm& comm) {
    if (comm.rank() == 0) set_device(0);
    const hccl::device_span<float, OnNpu> nowhere(reinterpret_cast<float*>(std::uintptr_t{64}), 10);
    hccl::allreduce(comm, nowhere, nowhere);
  });
  CHECK(outcomes[1].is(errc::device_failed));
  CHECK(outcomes[1].says("rank 1: allreduce: no device is set in this thread; call aclrtSetDevice first"));
  CHECK(outcomes[0].is(errc::device_failed));
}

TEST_CASE("buffers of a device are used in the background") {
  hccl::run_local(2, [](Comm& comm) {
    set_device(comm.rank());
    const std::vector<float> ones(1000, 1.0f);
    npu_buffer<float> data{std::span<const float>(ones)};
    hccl::allreduce(comm, data);  // the thread of the queue gets the device of this one
    hccl::operation_queue<hccl::LocalTransport> queue(std::move(comm));
    hccl::async::allreduce(queue, data).wait();
    require(values_of(data) == std::vector<float>(1000, 4.0f), "a wrong sum");
  });
  SUCCEED();
}

TEST_CASE("one rank alone has its buffer of a device, and shares anywhere in it") {
  hccl::run_local(1, [](Comm& comm) {
    set_device(0);
    const std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8}, part{1, 2, 3, 4};
    const std::vector<std::size_t> counts{4}, offsets{2};
    const hccl::shares shares(counts, offsets);
    npu_buffer<int> in{std::span<const int>(values)}, out(4), share{std::span<const int>(part)};
    hccl::scatterv(comm, in, out, shares);
    require(values_of(out) == std::vector{3, 4, 5, 6}, "scatterv");
    hccl::reduce_scatterv(comm, in, out, shares);
    require(values_of(out) == std::vector{3, 4, 5, 6}, "reduce_scatterv");
    hccl::allgatherv(comm, share, in, shares);
    require(values_of(in) == std::vector{1, 2, 1, 2, 3, 4, 7, 8}, "allgatherv");
  });
  SUCCEED();
}

TEST_CASE("a thread that goes to another device takes its communicator along") {
  hccl::run_local(2, [](Comm& comm) {
    for (const int step : {0, 1, 2}) {
      set_device(comm.rank() + step);
      const std::vector<float> ones(10, 1.0f);
      npu_buffer<float> data{std::span<const float>(ones)};
      hccl::allreduce(comm, data);
      int device = -1;
      aclrtGetDevice(&device);
      require(device == comm.rank() + step, "the thread was moved");
      require(values_of(data) == std::vector<float>(10, 2.0f), "a wrong sum");
    }
  });
  SUCCEED();
}

TEST_CASE("communicators that end in a thread without a device leave no streams") {
  for (int turn = 0; turn < 1100; ++turn) {  // 1984 streams is what a device has
    std::unique_ptr<Comm> comm;
    std::jthread([&] {
      set_device(3);
      comm = std::make_unique<Comm>(hccl::LocalTransport());
      npu_buffer<double> data(3);
      hccl::allreduce(*comm, data);
    }).join();
    comm.reset();
  }
  SUCCEED();
}

TEST_CASE("what is made of elements of another size lies where it may") {
  run_on_npus(2, [](auto& comm) {
    const std::vector<Three> values(5, Three{1, 2, 3});
    npu_buffer<Three> data{std::span<const Three>(values)};
    hccl::allreduce(comm, data, Norm());
    require(values_of(data)[4].x == 12, "a wrong sum");
  });
  SUCCEED();
}
