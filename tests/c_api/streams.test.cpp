// SPDX-License-Identifier: Apache-2.0

// Operators of the HCCL API in streams: their order, and what becomes of failures.

#include "c_api/support.hpp"
#include "test.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace c_api_test;

namespace {

constexpr std::size_t count = 1000;

std::vector<float> ramp(float first) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i % 7);
  return values;
}

void allreduce(const rank_on_device& own, const device_bytes& data, aclrtStream stream) {
  succeeds(
      HcclAllReduce(data.get(), data.get(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, own.comm, stream));
}

}  // namespace

TEST_CASE("an operator runs in its turn in the stream") {
  const all_devices devices(3);
  devices.run([](const rank_on_device& own) {
    const device_bytes data(count * sizeof(float)), doubled(count * sizeof(float));
    const auto bytes = count * sizeof(float);
    // Each line uses what the line before has left: zeros, then a ramp, then sums, then sums of sums.
    std::vector<float> input = ramp(static_cast<float>(own.rank));
    succeeds(aclrtMemsetAsync(data.get(), bytes, 0, bytes, own.stream));
    succeeds(aclrtMemcpyAsync(data.get(), bytes, input.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, own.stream));
    allreduce(own, data, own.stream);
    succeeds(
        aclrtMemcpyAsync(doubled.get(), bytes, data.get(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, own.stream));
    succeeds(aclrtReduceAsync(doubled.get(), data.get(), bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                              own.stream, nullptr));
    allreduce(own, doubled, own.stream);
    own.synchronize();
    const auto found = doubled.values<float>();
    for (std::size_t i = 0; i < count; ++i) {
      const float sum = 3 + 3 * static_cast<float>(i % 7);
      if (found[i] != 6 * sum) throw std::runtime_error("element " + std::to_string(i) + " is wrong");
    }
  });
}

TEST_CASE("launching an operator does not wait for the other ranks") {
  const all_devices devices(2);
  std::atomic<bool> launched = false;
  devices.run([&](const rank_on_device& own) {
    const device_bytes data(ramp(1));
    if (own.rank == 1) {
      while (!launched) std::this_thread::yield();
    }
    allreduce(own, data, own.stream);
    if (own.rank == 0) {
      aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
      succeeds(aclrtStreamQuery(own.stream, &status));
      if (status != ACL_STREAM_STATUS_NOT_READY) throw std::runtime_error("nobody has sent anything yet");
      launched = true;
    }
    own.synchronize();
  });
}

TEST_CASE("operators keep the order of their calls in different streams") {
  const all_devices devices(3);
  devices.run([](const rank_on_device& own) {
    aclrtStream second = nullptr;
    succeeds(aclrtCreateStream(&second));
    // The ranks' streams are at different places when the operators are launched.
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    succeeds(aclrtLaunchHostFunc(own.rank == 0 ? own.stream : second, sleep, nullptr));
    const device_bytes a(ramp(1)), b(ramp(2));
    for (int turn = 0; turn < 5; ++turn) {
      allreduce(own, a, own.stream);
      allreduce(own, b, second);
    }
    own.synchronize();
    succeeds(aclrtSynchronizeStream(second));
    if (a.values<float>()[0] != 243 || b.values<float>()[0] != 2 * 243)
      throw std::runtime_error("a sum is wrong");
    succeeds(aclrtDestroyStream(second));
  });
}

TEST_CASE("two communicators in two streams do not disturb each other") {
  const all_devices first(4), second(4);
  first.run([&](const rank_on_device& own) {
    rank_on_device other = own;
    other.comm = second.comms()[static_cast<std::size_t>(own.rank)];
    aclrtStream stream = nullptr;
    succeeds(aclrtCreateStream(&stream));
    const device_bytes a(ramp(1)), b(ramp(1));
    // Half of the ranks launch the one first, half the other.
    for (int turn = 0; turn < 20; ++turn) {
      if (own.rank % 2 == 0) allreduce(own, a, own.stream);
      allreduce(other, b, stream);
      if (own.rank % 2 != 0) allreduce(own, a, own.stream);
      if (turn % 10 == 9) {
        own.synchronize();
        succeeds(aclrtSynchronizeStream(stream));
      }
    }
    const float expected = 1099511627776.0F;  // 4 to the power of 20
    if (a.values<float>()[0] != expected || b.values<float>()[0] != expected)
      throw std::runtime_error("a sum is wrong");
    succeeds(aclrtDestroyStream(stream));
  });
}

TEST_CASE("a failure is told by the stream, by the communicator, and by the next operator") {
  const all_devices devices(3);
  devices.run([](const rank_on_device& own) {
    const device_bytes data(ramp(1));
    const std::size_t mine = own.rank == 1 ? count - 1 : count;
    succeeds(HcclAllReduce(data.get(), data.get(), mine, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, own.comm,
                           own.stream));
    if (aclrtSynchronizeStream(own.stream) == ACL_SUCCESS)
      throw std::runtime_error("the stream has not failed");
    const std::string told = aclGetRecentErrMsg();
    if (told.find("999") == told.npos || told.find("1000") == told.npos) throw std::runtime_error(told);
    HcclResult first = HCCL_SUCCESS;
    succeeds(HcclGetCommAsyncError(own.comm, &first));
    if (first != HCCL_E_PARA) throw std::runtime_error("the result is another: " + std::to_string(first));
    if (!failed(HcclBarrier(own.comm, own.stream), HCCL_E_PARA, "an earlier operator has failed"))
      throw std::runtime_error(hcclGetLastError());
  });
}

TEST_CASE("memory that is not on the device any more fails the operator, on all ranks") {
  const all_devices devices(2);
  devices.run([](const rank_on_device& own) {
    void* memory = nullptr;
    succeeds(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    if (own.rank == 0) succeeds(aclrtFree(memory));
    succeeds(HcclAllReduce(memory, memory, 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, own.comm, own.stream));
    if (aclrtSynchronizeStream(own.stream) == ACL_SUCCESS)
      throw std::runtime_error("the stream has not failed");
    HcclResult first = HCCL_SUCCESS;
    succeeds(HcclGetCommAsyncError(own.comm, &first));
    const HcclResult expected = own.rank == 0 ? HCCL_E_RUNTIME : HCCL_E_REMOTE;
    if (first != expected) throw std::runtime_error(hcclGetLastError());
    if (own.rank == 1) succeeds(aclrtFree(memory));
  });
}

TEST_CASE("a communicator whose operator runs is not destroyed") {
  const all_devices devices(2);
  std::atomic<bool> was_refused = false;
  devices.run([&](const rank_on_device& own) {
    const device_bytes data(ramp(1));
    if (own.rank == 1) {
      while (!was_refused) std::this_thread::yield();
    }
    allreduce(own, data, own.stream);
    if (own.rank == 0) {
      if (!failed(HcclCommDestroy(own.comm), HCCL_E_AGAIN, "synchronise its stream"))
        throw std::runtime_error(hcclGetLastError());
      was_refused = true;
    }
    own.synchronize();
  });
}

TEST_CASE(
    "an operator that its stream has dropped fails, on all ranks, and the communicator can be destroyed") {
  const bool by_abort = GENERATE(false, true);
  const all_devices devices(2);
  devices.run([&](const rank_on_device& own) {
    const device_bytes data(ramp(1));
    if (own.rank == 0) {  // the stream is busy when it ends
      aclrtStream stream = nullptr;
      succeeds(aclrtCreateStream(&stream));
      std::atomic<bool> goes_on = false;
      const auto wait = [](void* flag) {
        while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
      };
      succeeds(aclrtLaunchHostFunc(stream, wait, &goes_on));
      allreduce(own, data, stream);
      std::jthread release([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        goes_on = true;
      });
      if (by_abort) {
        succeeds(aclrtStreamAbort(stream));
      } else {
        succeeds(aclrtDestroyStreamForce(stream));
      }
    } else {
      allreduce(own, data, own.stream);
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    HcclResult first = HCCL_SUCCESS;
    while (first == HCCL_SUCCESS && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      succeeds(HcclGetCommAsyncError(own.comm, &first));
    }
    const std::string why = hcclGetLastError();
    if (first != (own.rank == 0 ? HCCL_E_RUNTIME : HCCL_E_REMOTE) ||
        why.find("the stream has dropped an operator") == why.npos)
      throw std::runtime_error(std::to_string(first) + ": " + why);
    if (own.rank == 1 && aclrtSynchronizeStream(own.stream) == ACL_SUCCESS)
      throw std::runtime_error("the stream of the other rank has not failed");
    while (HcclCommDestroy(own.comm) == HCCL_E_AGAIN) std::this_thread::yield();
  });
}
