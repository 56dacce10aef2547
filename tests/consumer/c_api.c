/* SPDX-License-Identifier: Apache-2.0 */
#include <hccl/hccl.h>

#include <acl/acl.h>
#include <stdio.h>

int main(void) {
  int32_t value = 7;
  void* data = NULL;
  hcclComm_t comm = NULL;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&data, sizeof value, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  if (aclrtMemcpy(data, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
    return 1;
  if (hcclCommInitAll(&comm, 1, NULL) != HCCL_SUCCESS ||
      hcclAllReduce(data, data, 1, HCCL_INT32, HCCL_SUM, comm) != HCCL_SUCCESS) {
    fprintf(stderr, "%s\n", hcclGetLastError());
    return 1;
  }
  if (aclrtMemcpy(&value, sizeof value, data, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
    return 1;
  printf("the sum is %d\n", (int)value);
  return value == 7 && hcclCommDestroy(comm) == HCCL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
