/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks find each other by root info, which goes through a file. Usage, under any launcher:
 *   hcclrun -n 4 root_info FILE      mpirun -n 4 root_info FILE */
#include "check.h"
#include "job.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

/* The root writes all of it under another name first, so that nobody reads half of it. */
static int write_file(const char* path, const HcclRootInfo* info) {
  char other[4096];
  if (snprintf(other, sizeof other, "%s.new", path) >= (int)sizeof other) return 0;
  FILE* file = fopen(other, "wb");
  if (!file) return 0;
  const int written = fwrite(info, sizeof *info, 1, file) == 1;
  return fclose(file) == 0 && written && rename(other, path) == 0;
}

static int read_file(const char* path, HcclRootInfo* info) {
  FILE* file = fopen(path, "rb");
  if (!file) return 0;
  const int done = fread(info, sizeof *info, 1, file) == 1;
  fclose(file);
  return done;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: root_info FILE, which does not exist yet\n");
    return 2;
  }
  const job own = find_job();
  uint32_t devices;
  CHECK_ACL(aclInit(NULL));
  CHECK_ACL(aclrtGetDeviceCount(&devices));
  CHECK_ACL(aclrtSetDevice((int32_t)(own.rank % devices)));

  HcclRootInfo info;
  if (own.rank == 0) {
    CHECK_HCCL(HcclGetRootInfo(&info));
    if (!write_file(argv[1], &info)) {
      perror(argv[1]);
      return 1;
    }
  } else {
    const struct timespec moment = {0, 10 * 1000 * 1000};
    for (int waited = 0; !read_file(argv[1], &info); ++waited) {
      if (waited == 6000) {
        fprintf(stderr, "rank %u: there is no %s\n", (unsigned)own.rank, argv[1]);
        return 1;
      }
      nanosleep(&moment, NULL);
    }
  }
  HcclComm comm;
  CHECK_HCCL(HcclCommInitRootInfo(own.size, &info, own.rank, &comm));
  if (own.rank == 0) remove(argv[1]); /* all have read it */

  int32_t value = 1;
  void* data;
  CHECK_ACL(aclrtMalloc(&data, sizeof value, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMemcpy(data, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_HCCL(HcclAllReduce(data, data, 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm, NULL));
  CHECK_ACL(aclrtSynchronizeStream(NULL));
  CHECK_ACL(aclrtMemcpy(&value, sizeof value, data, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("rank %u of %u: the sum of ones is %d\n", (unsigned)own.rank, (unsigned)own.size, (int)value);

  CHECK_ACL(aclrtFree(data));
  CHECK_HCCL(HcclCommDestroy(comm));
  CHECK_ACL(aclFinalize());
  return value != (int32_t)own.size;
}
