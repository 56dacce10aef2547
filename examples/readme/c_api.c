/* SPDX-License-Identifier: Apache-2.0 */
#include <hccl/hccl.h>

#include <acl/acl.h>
#include <stdio.h>

int main(void) {
  int rank, size;
  hcclGetRankId(&rank); /* of the launcher */
  hcclGetRankSize(&size);
  aclInit(NULL);
  aclrtSetDevice(rank);
  hcclComm_t comm;
  if (hcclCommInitAll(&comm, size, NULL) != HCCL_SUCCESS) {
    fprintf(stderr, "%s\n", hcclGetLastError());
    return 1;
  }
  float values[4] = {1, 2, 3, 4};
  void* data;
  aclrtMalloc(&data, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(data, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE);
  hcclAllReduce(data, data, 4, HCCL_FLOAT32, HCCL_SUM, comm);
  aclrtMemcpy(values, sizeof values, data, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST);
  printf("rank %d: %g %g %g %g\n", rank, values[0], values[1], values[2], values[3]);
  hcclCommDestroy(comm);
  return aclFinalize();
}
