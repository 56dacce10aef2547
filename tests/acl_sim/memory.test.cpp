// SPDX-License-Identifier: Apache-2.0

#include "acl_sim/support.hpp"
#include "test.hpp"

#include <hccl/core/float16.hpp>

#include <acl/acl.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <numeric>
#include <vector>

using acl_test::device_array, acl_test::failed, acl_test::in_process;

namespace {

/// Sets a device for the time of a test.
struct On {
  explicit On(int device) : id(device) { aclrtSetDevice(id); }
  ~On() { aclrtResetDevice(id); }
  int id;
};

std::vector<int> numbers(int from, std::size_t count) {
  std::vector<int> made(count);
  std::iota(made.begin(), made.end(), from);
  return made;
}

}  // namespace

TEST_CASE("copies go in every direction") {
  const On device(0);
  const auto values = numbers(5, 10'000);
  device_array<int> one(values), two(std::vector<int>(values.size()));
  CHECK(aclrtMemcpy(two.get(), two.bytes(), one.get(), one.bytes(), ACL_MEMCPY_DEVICE_TO_DEVICE) ==
        ACL_SUCCESS);
  CHECK(two.values() == values);
  std::vector<int> copy(values.size());
  CHECK(aclrtMemcpy(copy.data(), two.bytes(), values.data(), two.bytes(), ACL_MEMCPY_HOST_TO_HOST) ==
        ACL_SUCCESS);
  CHECK(copy == values);
  CHECK(aclrtMemset(one.get(), one.bytes(), 0, 400) == ACL_SUCCESS);
  CHECK((one.values()[99] == 0 && one.values()[100] == 105));
}

TEST_CASE("a stray access of the host to device memory is a fault") {
  CHECK(WTERMSIG(in_process([] {
          aclrtSetDevice(0);
          void* memory = nullptr;
          aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
          std::signal(SIGSEGV, SIG_DFL);  // Catch2 and the sanitizers have handlers of their own
          *static_cast<volatile int*>(memory) = 1;
          return true;
        })) == SIGSEGV);
}

TEST_CASE("memory has an end, and a device has so much of it") {
  CHECK(in_process([] {
          ::setenv("ACL_SIM_MEMORY", "1000000", 1);
          aclrtSetDevice(0);
          std::size_t free = 0, total = 0;
          void *one = nullptr, *two = nullptr;
          return aclrtMalloc(&one, 600'000, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS &&
                 failed(aclrtMalloc(&two, 600'000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_RT_DEVICE_OOM,
                        "bytes free of 1000000, 600000 are asked for") &&
                 aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS && total == 1'000'000 &&
                 free < 400'001 && aclrtFree(one) == ACL_SUCCESS &&
                 aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS && free == total;
        }) == 0);
  const On device(0);
  device_array<char> ten(std::vector<char>(10));
  char text[20] = {};
  CHECK(failed(aclrtMemcpy(ten.get(), 20, text, 11, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID,
               "where 10 bytes are left of the allocation; 11 are asked for"));
  CHECK(failed(aclrtMemcpy(ten.get(), 5, text, 6, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID,
               "more than destMax"));
  CHECK(failed(aclrtMemset(ten.get(), 5, 0, 6), ACL_ERROR_RT_PARAM_INVALID, "more than maxCount"));
}

TEST_CASE("wrong arguments about memory are told") {
  const On device(0);
  void* memory = nullptr;
  int here = 0;
  CHECK(failed(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_PARAM_INVALID, "size is 0"));
  CHECK(failed(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_PARAM_INVALID,
               "devPtr is null"));
  CHECK(aclrtMalloc(&memory, 8, static_cast<aclrtMemMallocPolicy>(99)) == ACL_ERROR_RT_INVALID_MALLOC_TYPE);
  CHECK(failed(aclrtFree(&here), ACL_ERROR_RT_PARAM_INVALID, "is not what aclrtMalloc gave"));
  CHECK(failed(aclrtFreeHost(&here), ACL_ERROR_RT_PARAM_INVALID, "is not what aclrtMallocHost gave"));
  CHECK(failed(aclrtMemcpy(&here, 4, nullptr, 4, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID,
               "src is null"));
  REQUIRE(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
  CHECK(failed(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID, "or was freed before"));
}

TEST_CASE("memory of another device needs access to be enabled") {
  const On one(1);
  device_array<int> there(numbers(3, 100));
  const On zero(0);
  device_array<int> here(std::vector<int>(100));
  const auto copy = [&] {
    return aclrtMemcpy(here.get(), here.bytes(), there.get(), there.bytes(), ACL_MEMCPY_DEVICE_TO_DEVICE);
  };
  CHECK(failed(copy(), ACL_ERROR_RT_PARAM_INVALID,
               "memory of device 1, which device 0 may not access; call aclrtDeviceEnablePeerAccess(1, 0)"));
  CHECK(failed(aclrtDeviceEnablePeerAccess(1, 2), ACL_ERROR_RT_PARAM_INVALID, "flags is 2"));
  CHECK(failed(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_RT_PARAM_INVALID, "device 0 is the one"));
  CHECK(aclrtDeviceEnablePeerAccess(1, 0) == ACL_SUCCESS);
  CHECK(copy() == ACL_SUCCESS);
  CHECK(here.values() == numbers(3, 100));
  CHECK(aclrtDeviceDisablePeerAccess(1) == ACL_SUCCESS);
  CHECK(copy() == ACL_ERROR_RT_PARAM_INVALID);
  aclrtDeviceEnablePeerAccess(1, 0);  // for the destructors
}

TEST_CASE("asynchronous copies keep their order, and pageable memory may change when they return") {
  const On device(0);
  device_array<int> there(std::vector<int>(1000));
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  for (int turn = 0; turn < 50; ++turn) {
    auto values = numbers(turn, 1000);
    REQUIRE(aclrtMemcpyAsync(there.get(), there.bytes(), values.data(), there.bytes(),
                             ACL_MEMCPY_HOST_TO_DEVICE, stream) == ACL_SUCCESS);
    values.assign(1000, -1);
  }
  void* pinned = nullptr;
  REQUIRE(aclrtMallocHost(&pinned, there.bytes()) == ACL_SUCCESS);
  REQUIRE(aclrtMemcpyAsync(pinned, there.bytes(), there.get(), there.bytes(), ACL_MEMCPY_DEVICE_TO_HOST,
                           stream) == ACL_SUCCESS);
  REQUIRE(aclrtMemsetAsync(there.get(), there.bytes(), 0, there.bytes(), stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  const auto* const first = static_cast<const int*>(pinned);
  CHECK(std::vector<int>(first, first + 1000) == numbers(49, 1000));
  CHECK(there.values() == std::vector<int>(1000));
  CHECK(failed(aclrtMemcpyAsync(pinned, 8, pinned, 4, ACL_MEMCPY_HOST_TO_HOST, stream),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "both addresses are of the host"));
  CHECK(aclrtFreeHost(pinned) == ACL_SUCCESS);
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

TEST_CASE("memory that is freed while a stream still works in it is kept for the stream") {
  const On device(0);
  std::promise<void> gate;
  const auto wait = [](void* opened) { static_cast<std::promise<void>*>(opened)->get_future().wait(); };
  void *there = nullptr, *pinned = nullptr;
  REQUIRE(aclrtMalloc(&there, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  REQUIRE(aclrtMallocHost(&pinned, 4096) == ACL_SUCCESS);
  REQUIRE(aclrtMemset(there, 4096, 7, 4096) == ACL_SUCCESS);
  REQUIRE(aclrtLaunchHostFunc(nullptr, wait, &gate) == ACL_SUCCESS);
  REQUIRE(aclrtMemcpyAsync(pinned, 4096, there, 4096, ACL_MEMCPY_DEVICE_TO_HOST, nullptr) == ACL_SUCCESS);
  REQUIRE(aclrtFree(there) == ACL_SUCCESS);
  gate.set_value();
  REQUIRE(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(static_cast<char*>(pinned)[4095] == 7);
  CHECK(aclrtFreeHost(pinned) == ACL_SUCCESS);
}

TEST_CASE("a device reduces where its kind can") {
  const On device(0);
  const auto reduce = [](const auto& to, const auto& from, aclrtReduceKind kind, aclDataType type) {
    const aclError code = aclrtReduceAsync(to.get(), from.get(), to.bytes(), kind, type, nullptr, nullptr);
    return code == ACL_SUCCESS ? aclrtSynchronizeStream(nullptr) : code;
  };
  device_array<float> a({1, 5, -2}), b({4, 4, 4});
  CHECK(reduce(a, b, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT) == ACL_SUCCESS);
  CHECK(a.values() == std::vector<float>{5, 9, 2});
  CHECK(reduce(a, b, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, ACL_FLOAT) == ACL_SUCCESS);
  CHECK(a.values() == std::vector<float>{4, 4, 2});
  device_array<std::int8_t> c({1, -5}), d({-1, 7});
  CHECK(reduce(c, d, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_INT8) == ACL_SUCCESS);
  CHECK(c.values() == std::vector<std::int8_t>{1, 7});
  device_array<hccl::float16> e({hccl::float16(1.5f)}), f({hccl::float16(2.0f)});
  CHECK(reduce(e, f, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT16) == ACL_SUCCESS);
  CHECK(static_cast<float>(e.values()[0]) == 3.5f);
  CHECK(failed(reduce(a, b, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_DOUBLE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               "Ascend910B2 does not reduce"));
  CHECK(failed(reduce(a, b, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT), ACL_ERROR_RT_PARAM_INVALID,
               "kind is 13"));
  CHECK(aclrtReduceAsync(a.get(), b.get(), 5, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, nullptr,
                         nullptr) == ACL_ERROR_RT_PARAM_INVALID);
}

TEST_CASE("memory that was freed is told, and its addresses are used again") {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  std::vector<void*> blocks(4);
  constexpr std::size_t size = 10'000;
  char bytes[16] = {};
  for (void*& b : blocks) REQUIRE(aclrtMalloc(&b, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  for (const int i : {1, 3, 2}) {
    REQUIRE(aclrtFree(blocks[static_cast<std::size_t>(i)]) == ACL_SUCCESS);
    void* const gone = blocks[static_cast<std::size_t>(i)];
    CHECK(failed(aclrtMemcpy(bytes, sizeof bytes, gone, sizeof bytes, ACL_MEMCPY_DEFAULT),
                 ACL_ERROR_RT_PARAM_INVALID, "which is device memory that was freed"));
    CHECK(failed(aclrtMemset(gone, size, 0, 8), ACL_ERROR_RT_PARAM_INVALID,
                 "which is device memory that was freed"));
  }
  void* large = nullptr;  // in the place of three
  REQUIRE(aclrtMalloc(&large, 3 * size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  CHECK(large == blocks[1]);
  CHECK(aclrtMemset(large, 3 * size, 7, 3 * size) == ACL_SUCCESS);
  CHECK(aclrtFree(large) == ACL_SUCCESS);
  CHECK(aclrtFree(blocks[0]) == ACL_SUCCESS);
  aclrtResetDevice(0);
}
