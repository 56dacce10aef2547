/* SPDX-License-Identifier: Apache-2.0 */
/* The convenience spelling of tutorials: blocking, without streams and without root info. Included by hccl/hccl.h.
 *
 *   aclrtSetDevice(device);
 *   hcclComm_t comm;
 *   hcclCommInitAll(&comm, n, NULL);
 *   hcclAllReduce(gradients, gradients, count, HCCL_FLOAT32, HCCL_SUM, comm);
 *   hcclCommDestroy(comm);
 */
#ifndef HCCLPP_COMPAT_HCCL_EASY_H
#define HCCLPP_COMPAT_HCCL_EASY_H

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_types.h"

#define HCCL_INT8 HCCL_DATA_TYPE_INT8
#define HCCL_INT16 HCCL_DATA_TYPE_INT16
#define HCCL_INT32 HCCL_DATA_TYPE_INT32
#define HCCL_INT64 HCCL_DATA_TYPE_INT64
#define HCCL_UINT8 HCCL_DATA_TYPE_UINT8
#define HCCL_UINT16 HCCL_DATA_TYPE_UINT16
#define HCCL_UINT32 HCCL_DATA_TYPE_UINT32
#define HCCL_UINT64 HCCL_DATA_TYPE_UINT64
#define HCCL_FLOAT16 HCCL_DATA_TYPE_FP16
#define HCCL_BFLOAT16 HCCL_DATA_TYPE_BFP16
#define HCCL_FLOAT32 HCCL_DATA_TYPE_FP32
#define HCCL_FLOAT64 HCCL_DATA_TYPE_FP64

#define HCCL_SUM HCCL_REDUCE_SUM
#define HCCL_PROD HCCL_REDUCE_PROD
#define HCCL_MAX HCCL_REDUCE_MAX
#define HCCL_MIN HCCL_REDUCE_MIN

typedef HcclComm hcclComm_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Joins the communicator of all ranks, after aclrtSetDevice. Under a launcher (hcclrun, mpirun, torchrun) each
 * process is a rank, and n is their number. Without one the n threads of this process that call it are the ranks:
 * in the order of `devices`, a list of n ids, or, if it is NULL, of the ids of their devices. Blocks until all
 * have come, at most for the connect timeout. A thread has one such communicator at a time: destroy it before the
 * next. */
HcclResult hcclCommInitAll(hcclComm_t* comm, int n, const int32_t* devices);
HcclResult hcclCommDestroy(hcclComm_t comm);

/* Of the communicator that this thread has joined last; before that, of the job that a launcher has started. */
HcclResult hcclGetRankId(int* rank);
HcclResult hcclGetRankSize(int* size);

/* As the operators of hccl/hccl.h, in the default stream of the device, until they have ended. */
HcclResult hcclAllReduce(const void* sendBuf, void* recvBuf, uint64_t count, HcclDataType type,
                         HcclReduceOp op, hcclComm_t comm);
HcclResult hcclBroadcast(void* buf, uint64_t count, HcclDataType type, uint32_t root, hcclComm_t comm);
HcclResult hcclReduce(const void* sendBuf, void* recvBuf, uint64_t count, HcclDataType type, HcclReduceOp op,
                      uint32_t root, hcclComm_t comm);
HcclResult hcclScatter(const void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType type,
                       uint32_t root, hcclComm_t comm);
HcclResult hcclAllGather(const void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType type,
                         hcclComm_t comm);
HcclResult hcclReduceScatter(const void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType type,
                             HcclReduceOp op, hcclComm_t comm);
HcclResult hcclAlltoAll(const void* sendBuf, void* recvBuf, uint64_t countOfEach, HcclDataType type,
                        hcclComm_t comm);
HcclResult hcclSend(const void* sendBuf, uint64_t count, HcclDataType type, uint32_t destRank,
                    hcclComm_t comm);
HcclResult hcclRecv(void* recvBuf, uint64_t count, HcclDataType type, uint32_t srcRank, hcclComm_t comm);
HcclResult hcclBarrier(hcclComm_t comm);

#ifdef __cplusplus
}

/* Tutorials pass an int where a uint32_t is expected, and the other way round: in C++ both are right. Where the
 * address of such a function is taken, a cast says which is meant. */
#include <type_traits>

template <class T>
using hcclIfUnsigned = typename std::enable_if<std::is_same<T, uint32_t>::value, HcclResult>::type;
template <class T>
using hcclIfInt = typename std::enable_if<std::is_same<T, int>::value, HcclResult>::type;

template <class T>
hcclIfUnsigned<T> hcclGetRankId(T* rank) {
  return hcclGetRankId(reinterpret_cast<int*>(rank));
}
template <class T>
hcclIfUnsigned<T> hcclGetRankSize(T* size) {
  return hcclGetRankSize(reinterpret_cast<int*>(size));
}
template <class T>
hcclIfInt<T> HcclGetRankId(HcclComm comm, T* rank) {
  return HcclGetRankId(comm, reinterpret_cast<uint32_t*>(rank));
}
template <class T>
hcclIfInt<T> HcclGetRankSize(HcclComm comm, T* size) {
  return HcclGetRankSize(comm, reinterpret_cast<uint32_t*>(size));
}
template <class T>
typename std::enable_if<std::is_same<T, int>::value, aclError>::type aclrtGetDeviceCount(T* count) {
  return aclrtGetDeviceCount(reinterpret_cast<uint32_t*>(count));
}
#endif

#endif
