// SPDX-License-Identifier: Apache-2.0

// The numbers that programs were compiled with: values of enumerators, sizes and offsets.

#include "test.hpp"

#include <hccl/hccl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace {

struct number {
  long is, expected;
};

template <class Enum>
constexpr number value(Enum e, long expected) {
  return {static_cast<long>(e), expected};
}

}  // namespace

TEST_CASE("enumerators of the HCCL API have their values") {
  const number all[] = {
      value(HCCL_SUCCESS, 0),
      value(HCCL_E_PARA, 1),
      value(HCCL_E_PTR, 2),
      value(HCCL_E_MEMORY, 3),
      value(HCCL_E_INTERNAL, 4),
      value(HCCL_E_NOT_SUPPORT, 5),
      value(HCCL_E_NOT_FOUND, 6),
      value(HCCL_E_UNAVAIL, 7),
      value(HCCL_E_SYSCALL, 8),
      value(HCCL_E_TIMEOUT, 9),
      value(HCCL_E_OPEN_FILE_FAILURE, 10),
      value(HCCL_E_TCP_CONNECT, 11),
      value(HCCL_E_ROCE_CONNECT, 12),
      value(HCCL_E_TCP_TRANSFER, 13),
      value(HCCL_E_ROCE_TRANSFER, 14),
      value(HCCL_E_RUNTIME, 15),
      value(HCCL_E_DRV, 16),
      value(HCCL_E_PROFILING, 17),
      value(HCCL_E_CCE, 18),
      value(HCCL_E_NETWORK, 19),
      value(HCCL_E_AGAIN, 20),
      value(HCCL_E_REMOTE, 21),
      value(HCCL_E_SUSPENDING, 22),
      value(HCCL_E_OPRETRY_FAIL, 23),
      value(HCCL_E_OOM, 24),
      value(HCCL_E_IN_STATUS, 1041),
      value(HCCL_E_RESERVED, 1042),

      value(HCCL_DATA_TYPE_INT8, 0),
      value(HCCL_DATA_TYPE_INT16, 1),
      value(HCCL_DATA_TYPE_INT32, 2),
      value(HCCL_DATA_TYPE_FP16, 3),
      value(HCCL_DATA_TYPE_FP32, 4),
      value(HCCL_DATA_TYPE_INT64, 5),
      value(HCCL_DATA_TYPE_UINT64, 6),
      value(HCCL_DATA_TYPE_UINT8, 7),
      value(HCCL_DATA_TYPE_UINT16, 8),
      value(HCCL_DATA_TYPE_UINT32, 9),
      value(HCCL_DATA_TYPE_FP64, 10),
      value(HCCL_DATA_TYPE_BFP16, 11),
      value(HCCL_DATA_TYPE_INT128, 12),
      value(HCCL_DATA_TYPE_HIF8, 14),
      value(HCCL_DATA_TYPE_FP8E4M3, 15),
      value(HCCL_DATA_TYPE_FP8E5M2, 16),
      value(HCCL_DATA_TYPE_FP8E8M0, 17),
      value(HCCL_DATA_TYPE_RESERVED, 255),

      value(HCCL_REDUCE_SUM, 0),
      value(HCCL_REDUCE_PROD, 1),
      value(HCCL_REDUCE_MAX, 2),
      value(HCCL_REDUCE_MIN, 3),
      value(HCCL_REDUCE_RESERVED, 255),

      value(HCCL_SEND, 0),
      value(HCCL_RECV, 1),
      value(HCCL_SEND_RECV_RESERVED, 2),

      value(HCCL_DETERMINISTIC, 0),
      value(HCCL_CONFIG_TYPE_INVALID, -1),
      value(HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 0),
      value(HCCL_CONFIG_TYPE_HCCL_ALGO, 1),
      value(HCCL_COMM_STATUS_READY, 0),
      value(HCCL_COMM_STATUS_SUSPENDING, 1),
      value(HCCL_COMM_STATUS_INVALID, 254),
      value(HCCL_COMM_STATUS_RESERVED, 255),

      value(HCCL_COMM_CONFIG_BUFFER_SIZE, 0),
      value(HCCL_COMM_CONFIG_DETERMINISTIC, 1),
      value(HCCL_COMM_CONFIG_COMM_NAME, 2),
      value(HCCL_COMM_CONFIG_OP_EXPANSION_MODE, 3),
      value(HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV, 4),
      value(HCCL_COMM_CONFIG_WORLD_RANKID, 5),
      value(HCCL_COMM_CONFIG_JOBID, 6),
      value(HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE, 7),
      value(HCCL_COMM_CONFIG_EXEC_TIMEOUT, 8),
      value(HCCL_COMM_CONFIG_ALGO, 9),
      value(HCCL_COMM_CONFIG_RETRY, 10),
      value(HCCL_COMM_CONFIG_BUFFER_NAME, 11),
      value(HCCL_COMM_CONFIG_RESERVED, 12),
  };
  for (const number& n : all) CHECK(n.is == n.expected);
}

TEST_CASE("structures of the HCCL API have their layout") {
  const number all[] = {
      value(sizeof(HcclRootInfo), 4108),
      value(HCCL_ROOT_INFO_BYTES, 4108),
      value(sizeof(HcclSendRecvItem), 32),
      value(offsetof(HcclSendRecvItem, sendRecvType), 0),
      value(offsetof(HcclSendRecvItem, buf), 8),
      value(offsetof(HcclSendRecvItem, count), 16),
      value(offsetof(HcclSendRecvItem, dataType), 24),
      value(offsetof(HcclSendRecvItem, remoteRank), 28),
      value(sizeof(HcclConfigValue), 4),
      value(sizeof(HcclCommConfig), 2248),
      value(offsetof(HcclCommConfig, reserved), 0),
      value(offsetof(HcclCommConfig, hcclBufferSize), 24),
      value(offsetof(HcclCommConfig, hcclDeterministic), 28),
      value(offsetof(HcclCommConfig, hcclCommName), 32),
      value(offsetof(HcclCommConfig, hcclUdi), 160),
      value(offsetof(HcclCommConfig, hcclOpExpansionMode), 288),
      value(offsetof(HcclCommConfig, hcclRdmaTrafficClass), 292),
      value(offsetof(HcclCommConfig, hcclRdmaServiceLevel), 296),
      value(offsetof(HcclCommConfig, hcclWorldRankID), 300),
      value(offsetof(HcclCommConfig, hcclJobID), 304),
      value(offsetof(HcclCommConfig, aclGraphZeroCopyEnable), 312),
      value(offsetof(HcclCommConfig, hcclExecTimeOut), 316),
      value(offsetof(HcclCommConfig, hcclAlgo), 320),
      value(offsetof(HcclCommConfig, hcclRetryEnable), 1920),
      value(offsetof(HcclCommConfig, hcclRetryParams), 1970),
      value(offsetof(HcclCommConfig, hcclBufferName), 2098),
      value(offsetof(HcclCommConfig, hcclQos), 2228),
      value(offsetof(HcclCommConfig, hcclSymWinMaxMemSizePerRank), 2232),
      value(offsetof(HcclCommConfig, hcclChannelSqDepth), 2240),
  };
  for (const number& n : all) CHECK(n.is == n.expected);
  STATIC_REQUIRE(std::is_same_v<HcclComm, void*>);
  STATIC_REQUIRE(std::is_same_v<HcclCommSymWindow, void*>);
}

TEST_CASE("a configuration begins as the facts say") {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  struct {
    std::uint64_t size;
    std::uint32_t magic, version;
    std::uint64_t zero;
  } head;
  std::memcpy(&head, &config, sizeof head);
  CHECK(head.size == 2248);
  CHECK(head.magic == 0xf0f0f0f0u);
  CHECK(head.version == 11);
  CHECK(head.zero == 0);
  CHECK(config.hcclBufferSize == 0xffffffffu);
  CHECK(config.hcclDeterministic == 0xffffffffu);
  CHECK(config.hcclExecTimeOut == -1);
  CHECK(config.hcclSymWinMaxMemSizePerRank == 16);
  CHECK(config.hcclCommName[0] == '\0');
}
