// SPDX-License-Identifier: Apache-2.0

// What is wrong is told: a result, and a sentence with the argument and what was expected.

#include "c_api/support.hpp"
#include "test.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace c_api_test;

namespace {

constexpr auto f32 = HCCL_DATA_TYPE_FP32;

/// One device, and its communicator of two ranks.
template <class F>
void with_comm(F&& f) {
  const all_devices devices(2);
  devices.run([&](const rank_on_device& own) {
    if (own.rank == 0) f(own);
  });
}

}  // namespace

TEST_CASE("operators check their arguments before they do anything") {
  with_comm([](const rank_on_device& own) {
    const device_bytes memory(64);
    void* const data = memory.get();
    const HcclComm comm = own.comm;
    const aclrtStream stream = own.stream;
    const std::array<std::uint64_t, 2> ones{1, 1}, twos{2, 2};
    const auto no_type = static_cast<HcclDataType>(13);
    const auto no_op = static_cast<HcclReduceOp>(4);
    constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() / 2;

    expect(HcclAllReduce(nullptr, data, 4, f32, HCCL_REDUCE_SUM, comm, stream), HCCL_E_PTR,
           "rank 0: sendBuf is null");
    expect(HcclAllReduce(data, nullptr, 4, f32, HCCL_REDUCE_SUM, comm, stream), HCCL_E_PTR, "recvBuf");
    expect(HcclAllReduce(data, data, 4, no_type, HCCL_REDUCE_SUM, comm, stream), HCCL_E_PARA,
           "dataType is 13");
    expect(HcclAllReduce(data, data, 4, f32, no_op, comm, stream), HCCL_E_PARA, "op is 4");
    expect(HcclAllReduce(data, data, huge, f32, HCCL_REDUCE_SUM, comm, stream), HCCL_E_PARA,
           "more than memory");
    expect(HcclAllReduce(data, data, 4, HCCL_DATA_TYPE_HIF8, HCCL_REDUCE_SUM, comm, stream),
           HCCL_E_NOT_SUPPORT, "moved, but not reduced");
    expect(HcclAllReduce(data, data, 4, f32, HCCL_REDUCE_SUM, nullptr, stream), HCCL_E_PTR, "comm is null");
    expect(HcclReduce(data, data, 4, f32, HCCL_REDUCE_SUM, 2, comm, stream), HCCL_E_PARA,
           "root is 2, expected 0 to 1");
    expect(HcclBroadcast(nullptr, 4, f32, 0, comm, stream), HCCL_E_PTR, "buf");
    expect(HcclBroadcast(data, 4, f32, 7, comm, stream), HCCL_E_PARA, "root is 7");
    expect(HcclScatter(nullptr, data, 4, f32, 0, comm, stream), HCCL_E_PTR, "sendBuf");
    expect(HcclScatter(data, data, huge, f32, 0, comm, stream), HCCL_E_PARA, "more than memory");
    expect(HcclAllGather(data, data, 2 * huge, f32, comm, stream), HCCL_E_PARA, "sendBuf has");
    expect(HcclReduceScatter(data, data, 2 * huge, f32, HCCL_REDUCE_SUM, comm, stream), HCCL_E_PARA,
           "recvCount");
    expect(HcclAllGatherV(data, 2, data, ones.data(), ones.data(), f32, comm, stream), HCCL_E_PARA,
           "sendCount is 2, expected 1");
    expect(HcclAllGatherV(data, 1, data, nullptr, ones.data(), f32, comm, stream), HCCL_E_PTR, "recvCounts");
    expect(HcclReduceScatterV(data, twos.data(), ones.data(), data, 1, f32, HCCL_REDUCE_SUM, comm, stream),
           HCCL_E_PARA, "recvCount is 1, expected 2");
    expect(HcclAlltoAll(data, 1, f32, data, 2, f32, comm, stream), HCCL_E_PARA, "recvCount is 2, expected 1");
    expect(HcclAlltoAll(data, 1, f32, data, 1, HCCL_DATA_TYPE_INT8, comm, stream), HCCL_E_PARA, "recvType");
    expect(HcclAlltoAllV(data, ones.data(), nullptr, f32, data, ones.data(), ones.data(), f32, comm, stream),
           HCCL_E_PTR, "sdispls");
    expect(HcclAlltoAllVC(data, nullptr, f32, data, f32, comm, stream), HCCL_E_PTR, "sendCountMatrix");
    expect(HcclSend(data, 1, f32, 2, comm, stream), HCCL_E_PARA, "destRank is 2");
    expect(HcclRecv(data, 1, f32, 2, comm, stream), HCCL_E_PARA, "srcRank is 2");
    expect(HcclBatchSendRecv(nullptr, 1, comm, stream), HCCL_E_PTR, "sendRecvInfo");
    HcclSendRecvItem item{HCCL_SEND_RECV_RESERVED, data, 1, f32, 0};
    expect(HcclBatchSendRecv(&item, 1, comm, stream), HCCL_E_PARA, "sendRecvType of item 0 is 2");

    const std::array<std::uint64_t, 2> huge_shares{huge, huge}, zeros{0, 0};
    expect(HcclAlltoAllV(data, huge_shares.data(), zeros.data(), HCCL_DATA_TYPE_INT8, data, ones.data(),
                         zeros.data(), HCCL_DATA_TYPE_INT8, comm, stream),
           HCCL_E_PARA, "sendBuf");

    void* const no_stream = data;
    expect(HcclBarrier(comm, no_stream), HCCL_E_RUNTIME, "aclrtLaunchHostFunc");
  });
}

TEST_CASE("nothing is moved, but the operator takes part: no elements and null pointers") {
  const all_devices devices(3);
  devices.run([](const rank_on_device& own) {
    succeeds(HcclAllReduce(nullptr, nullptr, 0, f32, HCCL_REDUCE_SUM, own.comm, own.stream));
    succeeds(HcclBroadcast(nullptr, 0, f32, 1, own.comm, own.stream));
    succeeds(HcclAllGather(nullptr, nullptr, 0, f32, own.comm, own.stream));
    succeeds(HcclReduceScatter(nullptr, nullptr, 0, f32, HCCL_REDUCE_MAX, own.comm, own.stream));
    succeeds(HcclAlltoAll(nullptr, 0, f32, nullptr, 0, f32, own.comm, own.stream));
    succeeds(HcclBatchSendRecv(nullptr, 0, own.comm, own.stream));
    const std::array<std::uint64_t, 3> none{0, 0, 0}, anywhere{5, 7, 9};
    succeeds(HcclAlltoAllV(nullptr, none.data(), anywhere.data(), f32, nullptr, none.data(), anywhere.data(),
                           f32, own.comm, own.stream));
    own.synchronize();
  });
}

TEST_CASE("what is no communicator is told") {
  HcclComm gone = nullptr;
  {
    const all_devices devices(1);
    gone = devices.comms()[0];
  }
  std::uint32_t rank = 0;
  CHECK(failed(HcclGetRankId(gone, &rank), HCCL_E_PARA, "it was destroyed"));
  CHECK(failed(HcclBarrier(gone, nullptr), HCCL_E_PARA, "it was destroyed"));
  CHECK(failed(HcclCommDestroy(gone), HCCL_E_PARA, "it was destroyed"));
  CHECK(failed(HcclCommDestroy(&rank), HCCL_E_PARA, "no communicator"));
  CHECK(failed(HcclCommDestroy(nullptr), HCCL_E_PTR, "comm is null"));

  with_comm([](const rank_on_device& own) {
    expect(HcclGetRankId(own.comm, static_cast<std::uint32_t*>(nullptr)), HCCL_E_PTR, "rank is null");
    expect(HcclGetCommName(own.comm, nullptr), HCCL_E_PTR, "commName is null");
    expect(HcclGetCommAsyncError(own.comm, nullptr), HCCL_E_PTR, "asyncError is null");
    const pid_t child = ::fork();
    if (child == 0) {
      std::uint32_t its_rank = 0;
      ::_exit(failed(HcclGetRankId(own.comm, &its_rank), HCCL_E_PARA, "made before a fork") ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error("the child used the communicator of its parent");
  });
}

TEST_CASE("wrong arguments of those that make communicators") {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  HcclRootInfo info;
  HcclComm comm = nullptr;
  CHECK(failed(HcclGetRootInfo(nullptr), HCCL_E_PTR, "rootInfo is null"));
  REQUIRE(HcclGetRootInfo(&info) == HCCL_SUCCESS);
  CHECK(failed(HcclCommInitRootInfo(2, nullptr, 0, &comm), HCCL_E_PTR, "rootInfo is null"));
  CHECK(failed(HcclCommInitRootInfo(2, &info, 0, nullptr), HCCL_E_PTR, "comm is null"));
  CHECK(failed(HcclCommInitRootInfo(0, &info, 0, &comm), HCCL_E_PARA, "nRanks is 0"));
  CHECK(failed(HcclCommInitRootInfo(2, &info, 2, &comm), HCCL_E_PARA, "rank is 2, expected 0 to 1"));
  CHECK(failed(HcclCommInitRootInfoConfig(1, &info, 0, nullptr, &comm), HCCL_E_PTR, "config is null"));
  std::memset(&info, 'x', sizeof info);
  CHECK(
      failed(HcclCommInitRootInfo(2, &info, 0, &comm), HCCL_E_PARA, "not what HcclGetRootInfo has written"));

  std::array<HcclComm, 9> comms{};
  std::array<std::int32_t, 2> devices{1, 1};
  CHECK(failed(HcclCommInitAll(0, nullptr, comms.data()), HCCL_E_PARA, "ndev is 0, expected 1 to 8"));
  CHECK(failed(HcclCommInitAll(9, nullptr, comms.data()), HCCL_E_PARA, "ndev is 9"));
  CHECK(failed(HcclCommInitAll(2, nullptr, nullptr), HCCL_E_PTR, "comms is null"));
  CHECK(failed(HcclCommInitAll(2, devices.data(), comms.data()), HCCL_E_PARA,
               "devices[1] is 1, which is in the list"));
  devices[1] = 8;
  CHECK(failed(HcclCommInitAll(2, devices.data(), comms.data()), HCCL_E_PARA,
               "devices[1] is 8, expected 0 to 7"));
  aclrtResetDevice(0);
}

TEST_CASE("a configuration is read as its head says") {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  const auto result_of = [](const HcclCommConfig& config) {
    HcclRootInfo info;
    HcclComm comm = nullptr;
    succeeds(HcclGetRootInfo(&info));
    const HcclResult result = HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm);
    if (result == HCCL_SUCCESS) succeeds(HcclCommDestroy(comm));
    return result;
  };
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  const auto put = [&](std::size_t offset, auto value) {
    std::memcpy(reinterpret_cast<char*>(&config) + offset, &value, sizeof value);
  };
  constexpr std::size_t size_at = 0, magic_at = 8, version_at = 12;

  SECTION("as it was made") { CHECK(result_of(config) == HCCL_SUCCESS); }
  SECTION("of an older program, which has fewer fields") {
    put(size_at, std::uint64_t{288});
    put(version_at, 2u);
    config.hcclExecTimeOut = -5;  // not there
    CHECK(result_of(config) == HCCL_SUCCESS);
  }
  SECTION("of an older program, with anything in the padding at its end") {
    put(size_at, std::uint64_t{320});
    put(version_at, 7u);
    config.hcclExecTimeOut = -5;
    CHECK(result_of(config) == HCCL_SUCCESS);
    put(size_at, std::uint64_t{2232});
    put(version_at, 9u);
    config.hcclExecTimeOut = 5;
    config.hcclQos = 77;
    CHECK(result_of(config) == HCCL_SUCCESS);
  }
  SECTION("of a newer program") {
    put(version_at, 12u);
    CHECK(result_of(config) == HCCL_SUCCESS);
  }
  SECTION("without the magic number") {
    put(magic_at, 1u);
    CHECK(failed(result_of(config), HCCL_E_PARA, "magic number is 1"));
  }
  SECTION("with an impossible size") {
    put(size_at, std::uint64_t{3});
    CHECK(failed(result_of(config), HCCL_E_PARA, "3 bytes"));
    put(size_at, std::uint64_t{1} << 40);
    CHECK(failed(result_of(config), HCCL_E_PARA, "1099511627776 bytes"));
  }
  SECTION("without a version") {
    put(version_at, 0u);
    CHECK(failed(result_of(config), HCCL_E_PARA, "version 0"));
  }
  SECTION("with values out of range") {
    config.hcclBufferSize = 0;
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclBufferSize is 0"));
    config.hcclBufferSize = 1;
    config.hcclDeterministic = 3;
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclDeterministic is 3, expected 0 to 2"));
    config.hcclDeterministic = 2;
    config.hcclRdmaTrafficClass = 130;
    CHECK(failed(result_of(config), HCCL_E_PARA, "a multiple of 4"));
    config.hcclRdmaTrafficClass = 132;
    config.hcclRdmaServiceLevel = 8;
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclRdmaServiceLevel is 8"));
    config.hcclRdmaServiceLevel = 7;
    config.hcclQos = 8;
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclQos is 8"));
    config.hcclQos = 7;
    config.hcclExecTimeOut = -2;
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclExecTimeOut is -2"));
    config.hcclExecTimeOut = 10;
    config.hcclChannelSqDepth = 24;
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclChannelSqDepth is 24"));
    config.hcclChannelSqDepth = 32;
    std::strcpy(config.hcclAlgo, "level0:NA;level1:nonsense");
    CHECK(failed(result_of(config), HCCL_E_PARA, "nonsense"));
    std::strcpy(config.hcclAlgo, "level0:NA;level1:ring");
    CHECK(result_of(config) == HCCL_SUCCESS);
    std::memset(config.hcclCommName, 'x', sizeof config.hcclCommName);
    CHECK(failed(result_of(config), HCCL_E_PARA, "hcclCommName has no end"));
  }
  aclrtResetDevice(0);
}
