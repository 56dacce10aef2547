/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a communicator: the even and the odd ranks each add up their numbers. Usage: hcclrun -n 4 sub_communicators
 * Joins by the convenience spelling. */
#include "check.h"
#include "job.h"

#include <stdint.h>

enum { most_ranks = 64 };

static int32_t sum(HcclComm comm, int32_t value) {
  void* data;
  CHECK_ACL(aclrtMalloc(&data, sizeof value, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMemcpy(data, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_HCCL(hcclAllReduce(data, data, 1, HCCL_INT32, HCCL_SUM, comm));
  CHECK_ACL(aclrtMemcpy(&value, sizeof value, data, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK_ACL(aclrtFree(data));
  return value;
}

int main(void) {
  const job own = find_job();
  if (own.size > most_ranks) return 2;
  CHECK_ACL(aclInit(NULL));
  CHECK_ACL(aclrtSetDevice((int32_t)own.rank));
  hcclComm_t all;
  CHECK_HCCL(hcclCommInitAll(&all, (int)own.size, NULL));

  uint32_t members[most_ranks], count = 0;
  for (uint32_t rank = own.rank % 2; rank < own.size; rank += 2) members[count++] = rank;
  HcclComm part;
  CHECK_HCCL(HcclCreateSubCommConfig(&all, count, members, own.rank % 2, own.rank / 2, NULL, &part));

  int32_t expected = 0;
  for (uint32_t i = 0; i < count; ++i) expected += (int32_t)members[i];
  const int32_t of_part = sum(part, (int32_t)own.rank), of_all = sum(all, (int32_t)own.rank);
  printf("rank %u: the %s ranks add up to %d, all to %d\n", (unsigned)own.rank, own.rank % 2 ? "odd" : "even",
         (int)of_part, (int)of_all);

  CHECK_HCCL(HcclCommDestroy(part));
  CHECK_HCCL(hcclCommDestroy(all));
  CHECK_ACL(aclFinalize());
  return of_part != expected || of_all != (int32_t)(own.size * (own.size - 1) / 2);
}
