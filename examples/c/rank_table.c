/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks find each other by a rank table. Usage: hcclrun -n 2 rank_table FILE, or RANK_TABLE_FILE=FILE hcclrun -n 2
 * rank_table Each rank uses the device of its number, as the table has to say. */
#include "check.h"
#include "job.h"

#include <stdint.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : getenv("RANK_TABLE_FILE");
  if (!path) {
    fprintf(stderr, "usage: rank_table FILE, or RANK_TABLE_FILE=FILE\n");
    return 2;
  }
  const job own = find_job();
  CHECK_ACL(aclInit(NULL));
  CHECK_ACL(aclrtSetDevice((int32_t)own.rank));
  HcclComm comm;
  CHECK_HCCL(HcclCommInitClusterInfo(path, own.rank, &comm));

  uint32_t size;
  CHECK_HCCL(HcclGetRankSize(comm, &size));
  int32_t value = (int32_t)own.rank;
  void* one;
  void* all;
  int32_t gathered[64] = {0};
  if (size > 64) return 1;
  CHECK_ACL(aclrtMalloc(&one, sizeof value, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMalloc(&all, size * sizeof value, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMemcpy(one, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_HCCL(HcclAllGather(one, all, 1, HCCL_DATA_TYPE_INT32, comm, NULL));
  CHECK_ACL(aclrtSynchronizeStream(NULL));
  CHECK_ACL(aclrtMemcpy(gathered, sizeof gathered, all, size * sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  int wrong = 0;
  printf("rank %u has gathered", (unsigned)own.rank);
  for (uint32_t i = 0; i < size; ++i) {
    printf(" %d", (int)gathered[i]);
    wrong += gathered[i] != (int32_t)i;
  }
  printf("\n");

  CHECK_ACL(aclrtFree(one));
  CHECK_ACL(aclrtFree(all));
  CHECK_HCCL(HcclCommDestroy(comm));
  CHECK_ACL(aclFinalize());
  return wrong != 0;
}
