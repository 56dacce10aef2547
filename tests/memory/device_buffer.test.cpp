// SPDX-License-Identifier: Apache-2.0

#include "collective/devices.hpp"
#include "collective/errors.hpp"
#include "test.hpp"

#include <hccl/memory/device_buffer.hpp>
#include <hccl/memory/host_allocator.hpp>
#include <hccl/memory/shared_allocator.hpp>

#include <acl/acl.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

using hccl::device_buffer, hccl_test::OnNpu, hccl_test::outcome_of;

static_assert(hccl::check_device_allocator<hccl::HostAllocator>());
static_assert(hccl::check_device_allocator<hccl::SharedAllocator<void>>());
static_assert(hccl::check_device_allocator<OnNpu>());
static_assert(!hccl::DeviceAllocator<std::allocator<std::byte>>);

TEMPLATE_TEST_CASE("a device_buffer keeps what is written to it", "", hccl::HostAllocator,
                   hccl::SharedAllocator<void>, OnNpu) {
  aclrtSetDevice(0);
  std::vector<int> values(1000), found(1000);
  std::iota(values.begin(), values.end(), 7);
  device_buffer<int, TestType> buffer{std::span<const int>(values)};
  buffer.read(found);
  CHECK(found == values);

  device_buffer<int, TestType> moved = std::move(buffer);
  CHECK(moved.size() == 1000);
  const std::vector<int> two{1, 2};
  moved.write(two);
  found.resize(3);
  moved.read(found);
  CHECK(found == std::vector{1, 2, 9});
  CHECK(std::as_const(moved).subspan(10, 5).data() == moved.data() + 10);
  CHECK(device_buffer<int, TestType>(0).empty());
}

TEST_CASE("a device_buffer has room for no more than its elements") {
  device_buffer<int> buffer(3);
  std::vector<int> four(4);
  CHECK(outcome_of([&] {
          buffer.write(four);
        }).says("device_buffer: write: values has 4 elements, expected at most the 3 of the buffer"));
  CHECK(outcome_of([&] { buffer.read(four); }).is(hccl::errc::invalid_argument));
  CHECK(outcome_of([] {
          device_buffer<int> all(std::numeric_limits<std::size_t>::max());
        }).is(hccl::errc::out_of_memory));
}

TEST_CASE("memory of an NPU that there is not is an error") {
  std::jthread([] {
    const auto no_device = outcome_of([] { device_buffer<int, OnNpu> lost(1); });
    CHECK(no_device.is(hccl::errc::device_failed));
    CHECK(no_device.says("aclrtMalloc returned 107002"));
    aclrtSetDevice(0);
    CHECK(outcome_of([] {
            device_buffer<char, OnNpu> huge(std::size_t{1} << 50);
          }).is(hccl::errc::out_of_memory));
  }).join();
}
