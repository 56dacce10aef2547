// SPDX-License-Identifier: Apache-2.0

// Communicators of the HCCL API: how ranks meet, and what they tell.

#include "c_api/support.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace c_api_test;

namespace {

/// The sum of 1 of each rank, as a rank sees it.
float sum_of_ones(const rank_on_device& own) {
  const device_bytes one(std::vector<float>{1});
  succeeds(
      HcclAllReduce(one.get(), one.get(), 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, own.comm, own.stream));
  own.synchronize();
  return one.values<float>()[0];
}

/// Calls f(rank) in a thread on each of `size` devices, and returns what they threw.
template <class F>
std::vector<std::string> on_devices(int size, F&& f) {
  return in_threads(std::vector<HcclComm>(static_cast<std::size_t>(size)), f);
}

const std::vector<std::string> nothing(std::size_t size) { return std::vector<std::string>(size); }

HcclCommConfig named(const char* name) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  std::strcpy(config.hcclCommName, name);
  return config;
}

}  // namespace

TEST_CASE("ranks meet by root info") {
  HcclRootInfo info;
  REQUIRE(HcclGetRootInfo(&info) == HCCL_SUCCESS);
  const auto thrown = on_devices(4, [&](rank_on_device own) {
    succeeds(HcclCommInitRootInfo(4, &info, static_cast<std::uint32_t>(own.rank), &own.comm));
    std::uint32_t rank = 9, size = 9;
    succeeds(HcclGetRankId(own.comm, &rank));
    succeeds(HcclGetRankSize(own.comm, &size));
    if (rank != static_cast<std::uint32_t>(own.rank) || size != 4)
      throw std::runtime_error("rank or size is wrong");
    if (sum_of_ones(own) != 4) throw std::runtime_error("the sum is wrong");
    succeeds(HcclCommDestroy(own.comm));
  });
  CHECK(thrown == nothing(4));
}

TEST_CASE("a process may have several communicators, each with a root info of its own") {
  HcclRootInfo first, second;
  REQUIRE(HcclGetRootInfo(&first) == HCCL_SUCCESS);
  REQUIRE(HcclGetRootInfo(&second) == HCCL_SUCCESS);
  const auto thrown = on_devices(2, [&](rank_on_device own) {
    HcclComm other = nullptr;
    succeeds(HcclCommInitRootInfo(2, &second, static_cast<std::uint32_t>(1 - own.rank), &other));
    succeeds(HcclCommInitRootInfo(2, &first, static_cast<std::uint32_t>(own.rank), &own.comm));
    std::uint32_t rank = 9;
    succeeds(HcclGetRankId(other, &rank));
    if (rank != static_cast<std::uint32_t>(1 - own.rank)) throw std::runtime_error("the rank is wrong");
    if (sum_of_ones(own) != 2) throw std::runtime_error("the sum is wrong");
    succeeds(HcclCommDestroy(own.comm));
    own.comm = other;
    if (sum_of_ones(own) != 2) throw std::runtime_error("the sum is wrong");
    succeeds(HcclCommDestroy(other));
  });
  CHECK(thrown == nothing(2));
}

TEST_CASE("a configuration names a communicator") {
  for (int turn = 0; turn < 2; ++turn) {  // a name is free again once the communicator was destroyed
    HcclRootInfo info;
    REQUIRE(HcclGetRootInfo(&info) == HCCL_SUCCESS);
    const auto thrown = on_devices(2, [&](rank_on_device own) {
      const HcclCommConfig config = named("data parallel");
      succeeds(
          HcclCommInitRootInfoConfig(2, &info, static_cast<std::uint32_t>(own.rank), &config, &own.comm));
      char name[COMM_NAME_MAX_LENGTH] = "";
      succeeds(HcclGetCommName(own.comm, name));
      if (name != std::string("data parallel")) throw std::runtime_error(name);
      HcclComm found = nullptr;
      succeeds(HcclCommGetHandleWithName("data parallel", &found));
      if (found != own.comm) throw std::runtime_error("another communicator has the name");
      if (!failed(HcclCommInitRootInfoConfig(2, &info, static_cast<std::uint32_t>(own.rank), &config, &found),
                  HCCL_E_PARA, "has a communicator 'data parallel' already"))
        throw std::runtime_error(hcclGetLastError());
      succeeds(HcclCommDestroy(own.comm));
      if (!failed(HcclCommGetHandleWithName("data parallel", &found), HCCL_E_NOT_FOUND, "data parallel"))
        throw std::runtime_error(hcclGetLastError());
    });
    CHECK(thrown == nothing(2));
  }
}

TEST_CASE("ranks that mean different communicators, or use one device, all get an error") {
  HcclRootInfo info;
  REQUIRE(HcclGetRootInfo(&info) == HCCL_SUCCESS);
  SECTION("names") {
    const auto thrown = on_devices(3, [&](rank_on_device own) {
      const HcclCommConfig config = named(own.rank == 1 ? "b" : "a");
      if (!failed(
              HcclCommInitRootInfoConfig(3, &info, static_cast<std::uint32_t>(own.rank), &config, &own.comm),
              HCCL_E_PARA, "rank 1 calls the communicator 'b', rank 0 'a'"))
        throw std::runtime_error(hcclGetLastError());
    });
    CHECK(thrown == nothing(3));
  }
  SECTION("devices") {
    const auto thrown = on_devices(3, [&](rank_on_device own) {
      if (own.rank == 2) succeeds(aclrtSetDevice(0));
      if (!failed(HcclCommInitRootInfo(3, &info, static_cast<std::uint32_t>(own.rank), &own.comm),
                  HCCL_E_PARA, "ranks 0 and 2 both use device 0"))
        throw std::runtime_error(hcclGetLastError());
    });
    CHECK(thrown == nothing(3));
  }
}

TEST_CASE("the convenience spelling: threads find each other") {
  for (int turn = 0; turn < 2; ++turn) {
    const auto thrown = on_devices(3, [&](rank_on_device own) {
      hcclComm_t comm = nullptr;
      succeeds(hcclCommInitAll(&comm, 3, nullptr));
      int rank = 9;
      std::uint32_t size = 9;
      succeeds(hcclGetRankId(&rank));
      succeeds(hcclGetRankSize(&size));
      if (rank != own.rank || size != 3) throw std::runtime_error("rank or size is wrong");
      const auto self = static_cast<float>(rank);
      const device_bytes in(std::vector<float>{self, self + 1, self + 2}), out(3 * sizeof(float)),
          all(9 * sizeof(float));
      const std::vector<float> sums{3, 6, 9};
      succeeds(hcclAllReduce(in.get(), out.get(), 3, HCCL_FLOAT32, HCCL_SUM, comm));
      if (out.values<float>() != sums) throw std::runtime_error("allreduce is wrong");
      succeeds(hcclAllGather(in.get(), all.get(), 3, HCCL_FLOAT32, comm));
      if (all.values<float>() != std::vector<float>{0, 1, 2, 1, 2, 3, 2, 3, 4})
        throw std::runtime_error("allgather is wrong");
      succeeds(hcclReduceScatter(in.get(), out.get(), 1, HCCL_FLOAT32, HCCL_SUM, comm));
      if (out.values<float>()[0] != sums[static_cast<std::size_t>(rank)])
        throw std::runtime_error("reduce_scatter is wrong");
      succeeds(hcclAlltoAll(in.get(), out.get(), 1, HCCL_FLOAT32, comm));
      if (out.values<float>() != std::vector<float>{self, self + 1, self + 2})
        throw std::runtime_error("alltoall is wrong");
      succeeds(hcclBroadcast(out.get(), 3, HCCL_FLOAT32, 2, comm));
      if (out.values<float>() != std::vector<float>{2, 3, 4}) throw std::runtime_error("broadcast is wrong");
      succeeds(hcclReduce(in.get(), out.get(), 3, HCCL_FLOAT32, HCCL_MAX, 1, comm));
      succeeds(hcclScatter(all.get(), out.get(), 1, HCCL_FLOAT32, 0, comm));
      if (out.values<float>()[0] != self) throw std::runtime_error("scatter is wrong");
      if (rank == 0) succeeds(hcclSend(in.get(), 3, HCCL_FLOAT32, 1, comm));
      if (rank == 1) succeeds(hcclRecv(out.get(), 3, HCCL_FLOAT32, 0, comm));
      if (rank == 1 && out.values<float>() != std::vector<float>{0, 1, 2})
        throw std::runtime_error("recv is wrong");
      succeeds(hcclBarrier(comm));
      succeeds(hcclCommDestroy(comm));
    });
    CHECK(thrown == nothing(3));
  }
}

TEST_CASE("the convenience spelling: ranks in the order of a list of devices") {
  const std::int32_t devices[] = {2, 0, 1};
  const auto thrown = on_devices(3, [&](rank_on_device own) {
    succeeds(hcclCommInitAll(&own.comm, 3, devices));
    int rank = 9;
    succeeds(hcclGetRankId(&rank));
    if (devices[rank] != own.rank) throw std::runtime_error("the rank is wrong");
    succeeds(hcclCommDestroy(own.comm));
  });
  CHECK(thrown == nothing(3));
}

TEST_CASE("the convenience spelling tells what is missing") {
  hcclComm_t comm = nullptr;
  CHECK(failed(hcclCommInitAll(&comm, 1, nullptr), HCCL_E_RUNTIME, "device not set"));
  const auto thrown = on_devices(1, [&](rank_on_device own) {
    ::setenv("HCCL_TIMEOUT", "0.2", 1);
    const HcclResult alone = hcclCommInitAll(&own.comm, 2, nullptr);
    ::unsetenv("HCCL_TIMEOUT");
    if (!failed(alone, HCCL_E_TIMEOUT, "hcclrun -n 2")) throw std::runtime_error(hcclGetLastError());
    if (!failed(hcclCommInitAll(&own.comm, 0, nullptr), HCCL_E_PARA, "n is 0"))
      throw std::runtime_error(hcclGetLastError());
    succeeds(hcclCommInitAll(&own.comm, 1, nullptr));  // the failures have left nothing behind
    if (!failed(hcclCommInitAll(&own.comm, 1, nullptr), HCCL_E_PARA, "destroy it"))
      throw std::runtime_error(hcclGetLastError());
    succeeds(hcclCommDestroy(own.comm));
  });
  CHECK(thrown == nothing(1));
}

TEST_CASE("a child takes root info from its parent, and the parent goes on") {
  if (hccl_test::under_thread_sanitizer) return;
  HcclRootInfo info;
  REQUIRE(HcclGetRootInfo(&info) == HCCL_SUCCESS);
  const pid_t child = ::fork();
  const auto join = [&](std::uint32_t rank) {
    HcclComm comm = nullptr;
    const bool is_right = aclrtSetDevice(static_cast<std::int32_t>(rank)) == ACL_SUCCESS &&
                          HcclCommInitRootInfo(2, &info, rank, &comm) == HCCL_SUCCESS &&
                          HcclBarrier(comm, nullptr) == HCCL_SUCCESS &&
                          aclrtSynchronizeStream(nullptr) == ACL_SUCCESS &&
                          HcclCommDestroy(comm) == HCCL_SUCCESS;
    aclrtResetDevice(static_cast<std::int32_t>(rank));
    return is_right;
  };
  if (child == 0) ::_exit(join(1) ? 0 : 1);
  CHECK(join(0));
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
