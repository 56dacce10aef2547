// SPDX-License-Identifier: Apache-2.0

// The HCCL API: results in words.

#include <hccl/hccl_comm.h>

extern "C" const char* HcclGetErrorString(HcclResult code) {
  switch (code) {
    case HCCL_SUCCESS:
      return "no error";
    case HCCL_E_PARA:
      return "a wrong argument";
    case HCCL_E_PTR:
      return "a null pointer";
    case HCCL_E_MEMORY:
      return "a memory error";
    case HCCL_E_INTERNAL:
      return "an internal error";
    case HCCL_E_NOT_SUPPORT:
      return "not supported";
    case HCCL_E_NOT_FOUND:
      return "not found";
    case HCCL_E_UNAVAIL:
      return "a resource is not available";
    case HCCL_E_SYSCALL:
      return "a system call failed";
    case HCCL_E_TIMEOUT:
      return "timeout";
    case HCCL_E_OPEN_FILE_FAILURE:
      return "a file cannot be opened";
    case HCCL_E_TCP_CONNECT:
      return "no connection by TCP";
    case HCCL_E_ROCE_CONNECT:
      return "no connection by RoCE";
    case HCCL_E_TCP_TRANSFER:
      return "a transfer by TCP failed";
    case HCCL_E_ROCE_TRANSFER:
      return "a transfer by RoCE failed";
    case HCCL_E_RUNTIME:
      return "a call of AscendCL failed";
    case HCCL_E_DRV:
      return "the driver failed";
    case HCCL_E_PROFILING:
      return "profiling failed";
    case HCCL_E_CCE:
      return "CCE failed";
    case HCCL_E_NETWORK:
      return "a network error";
    case HCCL_E_AGAIN:
      return "in use, try again";
    case HCCL_E_REMOTE:
      return "a peer was lost";
    case HCCL_E_SUSPENDING:
      return "the communicator is suspended";
    case HCCL_E_OPRETRY_FAIL:
      return "the operator cannot be tried again";
    case HCCL_E_OOM:
      return "out of memory";
    case HCCL_E_IN_STATUS:
      return "the wrong state";
    case HCCL_E_RESERVED:
      break;
  }
  return "an unknown result";
}
