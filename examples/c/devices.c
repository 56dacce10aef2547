/* SPDX-License-Identifier: Apache-2.0 */
/* One process, several devices: a thread for each. Usage: devices [COUNT] */
#include "check.h"

#include <pthread.h>
#include <stdint.h>

enum { most_devices = 64, elements = 1024 };

typedef struct {
  int32_t device;
  uint32_t size;
  HcclComm comm;
  float sum;
} rank_work;

/* Every rank has its device, its stream, and a vector of its rank; the sum is the same everywhere. */
static void* work(void* argument) {
  rank_work* own = argument;
  CHECK_ACL(aclrtSetDevice(own->device));
  aclrtStream stream;
  CHECK_ACL(aclrtCreateStream(&stream));

  float values[elements];
  for (int i = 0; i < elements; ++i) values[i] = (float)own->device;
  void* data;
  CHECK_ACL(aclrtMalloc(&data, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMemcpy(data, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_HCCL(HcclAllReduce(data, data, elements, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, own->comm, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
  CHECK_ACL(aclrtMemcpy(values, sizeof values, data, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
  own->sum = values[elements - 1];

  CHECK_ACL(aclrtFree(data));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(own->device));
  return NULL;
}

int main(int argc, char** argv) {
  CHECK_ACL(aclInit(NULL));
  uint32_t count;
  CHECK_ACL(aclrtGetDeviceCount(&count));
  if (argc > 1) count = (uint32_t)strtoul(argv[1], NULL, 10);
  if (count < 1 || count > most_devices) {
    fprintf(stderr, "usage: devices [COUNT], 1 to %d\n", most_devices);
    return 2;
  }

  HcclComm comms[most_devices];
  CHECK_HCCL(HcclCommInitAll(count, NULL, comms));
  pthread_t threads[most_devices];
  rank_work ranks[most_devices];
  for (uint32_t i = 0; i < count; ++i) {
    ranks[i] = (rank_work){(int32_t)i, count, comms[i], 0};
    pthread_create(&threads[i], NULL, work, &ranks[i]);
  }
  const float expected = (float)(count * (count - 1) / 2);
  int wrong = 0;
  for (uint32_t i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    printf("device %u: sum %.0f, expected %.0f\n", (unsigned)i, ranks[i].sum, expected);
    wrong += ranks[i].sum != expected;
    CHECK_HCCL(HcclCommDestroy(comms[i]));
  }
  CHECK_ACL(aclFinalize());
  return wrong != 0;
}
