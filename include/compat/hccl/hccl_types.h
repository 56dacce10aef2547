/* SPDX-License-Identifier: Apache-2.0 */
/* The types of the HCCL API: results, elements, reductions, communicators and their configuration. */
#ifndef HCCLPP_COMPAT_HCCL_TYPES_H
#define HCCLPP_COMPAT_HCCL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. hcclGetLastError() has the sentence. */
typedef enum {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,               /* a wrong argument */
  HCCL_E_PTR = 2,                /* a null pointer */
  HCCL_E_MEMORY = 3,             /* memory */
  HCCL_E_INTERNAL = 4,           /* a fault of the library */
  HCCL_E_NOT_SUPPORT = 5,        /* not offered */
  HCCL_E_NOT_FOUND = 6,          /* something that does not exist */
  HCCL_E_UNAVAIL = 7,            /* something that is taken */
  HCCL_E_SYSCALL = 8,            /* a call of the system failed */
  HCCL_E_TIMEOUT = 9,            /* a deadline has passed */
  HCCL_E_OPEN_FILE_FAILURE = 10, /* a file cannot be opened */
  HCCL_E_TCP_CONNECT = 11,
  HCCL_E_ROCE_CONNECT = 12,
  HCCL_E_TCP_TRANSFER = 13,
  HCCL_E_ROCE_TRANSFER = 14,
  HCCL_E_RUNTIME = 15, /* AscendCL failed */
  HCCL_E_DRV = 16,
  HCCL_E_PROFILING = 17,
  HCCL_E_CCE = 18,
  HCCL_E_NETWORK = 19,
  HCCL_E_AGAIN = 20,      /* the communicator is in use */
  HCCL_E_REMOTE = 21,     /* a peer was lost */
  HCCL_E_SUSPENDING = 22, /* the communicator is suspended */
  HCCL_E_OPRETRY_FAIL = 23,
  HCCL_E_OOM = 24, /* no memory is left */
  HCCL_E_IN_STATUS = 1041,
  HCCL_E_RESERVED = 1042
} HcclResult;

typedef enum {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11,
  HCCL_DATA_TYPE_INT128 = 12,
  HCCL_DATA_TYPE_HIF8 = 14,
  HCCL_DATA_TYPE_FP8E4M3 = 15,
  HCCL_DATA_TYPE_FP8E5M2 = 16,
  HCCL_DATA_TYPE_FP8E8M0 = 17,
  HCCL_DATA_TYPE_RESERVED = 255
} HcclDataType;

typedef enum {
  HCCL_REDUCE_SUM = 0,
  HCCL_REDUCE_PROD = 1,
  HCCL_REDUCE_MAX = 2,
  HCCL_REDUCE_MIN = 3,
  HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

typedef void* HcclComm;
typedef void* HcclConn;
typedef void* HcclCommSymWindow;

/* What the root makes and every rank is given, by any way, so that they find each other. */
#define HCCL_ROOT_INFO_BYTES 4108
typedef struct HcclRootInfoDef {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

typedef enum { HCCL_SEND = 0, HCCL_RECV = 1, HCCL_SEND_RECV_RESERVED = 2 } HcclSendRecvType;

typedef struct HcclSendRecvItemDef {
  HcclSendRecvType sendRecvType;
  void* buf;
  uint64_t count;
  HcclDataType dataType;
  uint32_t remoteRank;
} HcclSendRecvItem;

typedef enum { HCCL_DETERMINISTIC = 0, HCCL_CONFIG_RESERVED } HcclConfig;

typedef union HcclConfigValue {
  int32_t value;
} HcclConfigValue;

typedef enum {
  HCCL_CONFIG_TYPE_INVALID = -1,
  HCCL_CONFIG_TYPE_OP_EXPANSION_MODE = 0,
  HCCL_CONFIG_TYPE_HCCL_ALGO = 1
} HcclConfigType;

typedef enum {
  HCCL_COMM_STATUS_READY = 0,
  HCCL_COMM_STATUS_SUSPENDING = 1,
  HCCL_COMM_STATUS_INVALID = 254,
  HCCL_COMM_STATUS_RESERVED = 255
} HcclCommStatus;

/* The configuration of a communicator. Its head says how much of it there is: HcclCommConfigInit writes it. */
#define HCCL_COMM_CONFIG_INFO_BYTES 24
#define HCCL_COMM_CONFIG_MAGIC_WORD 0xf0f0f0f0u
#define HCCL_COMM_CONFIG_VERSION 11u
#define HCCL_COMM_CONFIG_NOT_SET 0xffffffffu
#define HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET HCCL_COMM_CONFIG_NOT_SET
#define HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET HCCL_COMM_CONFIG_NOT_SET
#define HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET HCCL_COMM_CONFIG_NOT_SET
#define HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET HCCL_COMM_CONFIG_NOT_SET
#define HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET ((int32_t)HCCL_COMM_CONFIG_NOT_SET)
#define HCCL_COMM_DEFAULT_BUFFSIZE 200u
#define COMM_NAME_MAX_LENGTH 128
#define UDI_MAX_LENGTH 128
#define HCCL_COMM_ALGO_MAX_LENGTH 1600
#define HCCL_COMM_RETRY_ENABLE_MAX_LENGTH 50
#define HCCL_COMM_RETRY_PARAMS_MAX_LENGTH 128
#define HCCL_COMM_BUFFER_NAME_MAX_LENGTH 128

typedef struct HcclCommConfigDef {
  char reserved[HCCL_COMM_CONFIG_INFO_BYTES];
  uint32_t hcclBufferSize; /* MB */
  uint32_t hcclDeterministic;
  char hcclCommName[COMM_NAME_MAX_LENGTH];
  char hcclUdi[UDI_MAX_LENGTH];
  uint32_t hcclOpExpansionMode;
  uint32_t hcclRdmaTrafficClass;
  uint32_t hcclRdmaServiceLevel;
  uint32_t hcclWorldRankID;
  uint64_t hcclJobID;
  uint8_t aclGraphZeroCopyEnable;
  int32_t hcclExecTimeOut; /* seconds */
  char hcclAlgo[HCCL_COMM_ALGO_MAX_LENGTH];
  char hcclRetryEnable[HCCL_COMM_RETRY_ENABLE_MAX_LENGTH];
  char hcclRetryParams[HCCL_COMM_RETRY_PARAMS_MAX_LENGTH];
  char hcclBufferName[HCCL_COMM_BUFFER_NAME_MAX_LENGTH];
  uint32_t hcclQos;
  uint64_t hcclSymWinMaxMemSizePerRank; /* GB */
  uint32_t hcclChannelSqDepth;
} HcclCommConfig;

/* What of a configuration is supported: HcclGetCommConfigCapability() is more than the number. */
typedef enum {
  HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
  HCCL_COMM_CONFIG_DETERMINISTIC = 1,
  HCCL_COMM_CONFIG_COMM_NAME = 2,
  HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
  HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
  HCCL_COMM_CONFIG_WORLD_RANKID = 5,
  HCCL_COMM_CONFIG_JOBID = 6,
  HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7,
  HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8,
  HCCL_COMM_CONFIG_ALGO = 9,
  HCCL_COMM_CONFIG_RETRY = 10,
  HCCL_COMM_CONFIG_BUFFER_NAME = 11,
  HCCL_COMM_CONFIG_RESERVED = 12
} HcclCommConfigCapability;

#ifdef __cplusplus
}
#endif

#endif
