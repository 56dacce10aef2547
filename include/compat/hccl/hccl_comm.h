/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of the HCCL API. */
#ifndef HCCLPP_COMPAT_HCCL_COMM_H
#define HCCLPP_COMPAT_HCCL_COMM_H

#include "acl/acl.h"
#include "hccl/hccl_types.h"

#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong last in this thread, in a sentence that names ranks, what was expected and what was found; "" if
 * nothing did. Our own addition. Valid until the next call in this thread. */
const char* hcclGetLastError(void);

/* The root makes a root info; the program brings it to all ranks, which then call HcclCommInitRootInfo at the same
 * time. nRanks and rootInfo are the same on all of them. */
HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);
HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm);
HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm);

/* The ranks of a rank table: a JSON file of version 1.0 or 1.2, or the older form with groups, the same on all
 * ranks. */
HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);
HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config,
                                         HcclComm* comm);

/* Communicators of ndev devices of this process, one each; a thread for each device then uses its own. */
HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);

/* The communicator of some ranks of *comm, which was not made by this call itself. rankIds[subCommRankId] is the
 * caller. The members call it with the same ids; who is none passes NULL and 0xffffffff and gets NULL, or does not
 * call it. config may be NULL. The name is "{name}_sub_{subCommId}" unless it says another. */
HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm);

/* Waits for nothing: while an operator has not ended this is HCCL_E_AGAIN. Synchronise its stream first. */
HcclResult HcclCommDestroy(HcclComm comm);

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
HcclResult HcclGetCommName(HcclComm comm, char* commName);                  /* of 128 bytes */
HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm); /* of this device */
HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
const char* HcclGetErrorString(HcclResult code);
HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

uint32_t HcclGetCommConfigCapability(void);

/* How reductions are done: 0, 1 or 2 as HCCL_DETERMINISTIC. All are deterministic here, so this is only kept. */
HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);

/* While a communicator is suspended its operators are HCCL_E_SUSPENDING; what runs goes on. */
HcclResult HcclCommSuspend(HcclComm comm);
HcclResult HcclCommResume(HcclComm comm);
HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status); /* by its name, on this device */

/* Between the two, HcclSend and HcclRecv of a thread are put off, and then done all at once; so are the calls that
 * make communicators, each for a device of its own. Collectives are launched as they are called. Groups nest;
 * kinds do not mix. */
HcclResult HcclGroupStart(void);
HcclResult HcclGroupEnd(void);
HcclResult HcclGroupStatusGet(bool* isGroupEnabled);

/* Memory of equal size on all ranks, for which they all call it; flag is 1. An operator may be faster in it
 * elsewhere. */
HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle,
                                  uint32_t flag);
HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);
/* The window that has so many bytes at ptr, and how far from its beginning they are. */
HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle,
                             size_t* offset);

/* Writes the head of a configuration, and that nothing is set. */
static inline void HcclCommConfigInit(HcclCommConfig* config) {
  struct {
    size_t size;
    uint32_t magic;
    uint32_t version;
    uint64_t zero;
  } head;
  if (config == NULL) return;
  memset(config, 0, sizeof *config);
  head.size = sizeof *config;
  head.magic = HCCL_COMM_CONFIG_MAGIC_WORD;
  head.version = HCCL_COMM_CONFIG_VERSION;
  head.zero = 0;
  memcpy(config->reserved, &head, sizeof head);
  config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
  config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
  config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
  config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
  config->hcclExecTimeOut = HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET;
  config->hcclQos = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclSymWinMaxMemSizePerRank = 16;
  config->hcclChannelSqDepth = HCCL_COMM_CONFIG_NOT_SET;
}

#ifdef __cplusplus
}
#endif

#endif
