/* SPDX-License-Identifier: Apache-2.0 */
/* Data-parallel training: every rank learns from its share of each batch, and the gradients are averaged over the
 * ranks. Usage: hcclrun -n 4 train FOLDER [EPOCHS [BATCH]], with the images of Fashion-MNIST in FOLDER. */
#include "check.h"
#include "job.h"
#include "model.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

enum { most_ranks = 1024 };

static const float first_rate = 0.05F, momentum = 0.9F;

typedef struct {
  size_t first, count;
} share;

/* The share of a rank; those of two ranks differ by one item at most. */
static share share_of(size_t items, job own) {
  const size_t least = items / own.size, more = items % own.size;
  const share found = {own.rank * least + (own.rank < more ? own.rank : more), least + (own.rank < more)};
  return found;
}

/* The sum over all ranks, by way of the memory of the device. */
static void sum_over_ranks(float* values, size_t count, void* device, HcclComm comm, aclrtStream stream) {
  const size_t bytes = count * sizeof *values;
  CHECK_ACL(aclrtMemcpyAsync(device, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK_HCCL(HcclAllReduce(device, device, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
  CHECK_ACL(aclrtMemcpyAsync(values, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
}

static void train(model* m, size_t epochs, size_t batch, job own, void* device, HcclComm comm,
                  aclrtStream stream) {
  const size_t size = model_size(m), images = model_images(m);
  float *weights = model_weights(m), *gradients = model_gradients(m);
  float* velocity = calloc(size, sizeof *velocity);
  if (!velocity) exit(1);
  for (size_t epoch = 0; epoch < epochs; ++epoch) {
    model_shuffle(m);
    for (size_t done = 0; done < images;) {
      const size_t count = batch < images - done ? batch : images - done;
      const share mine = share_of(count, own);
      memset(gradients, 0, size * sizeof *gradients);
      model_learn(m, done + mine.first, mine.count);

      sum_over_ranks(gradients, size, device, comm, stream);
      for (size_t i = 0; i < size; ++i) gradients[i] /= (float)own.size;

      /* The same numbers on every rank, so the weights stay the same. */
      const float rate = first_rate * (1 - (float)(epoch * images + done) / (float)(epochs * images));
      const float images_of_rank = (float)count / (float)own.size;
      for (size_t i = 0; i < size; ++i) {
        velocity[i] = momentum * velocity[i] - rate * gradients[i] / images_of_rank;
        weights[i] += velocity[i];
      }
      done += count;
    }
    if (own.rank == 0) fprintf(stderr, "epoch %zu of %zu\n", epoch + 1, epochs);
  }
  free(velocity);
}

/* Rank 0 prints how well all do, and whether they know the same. Returns whether they do. */
static int report(model* m, job own, void* device, HcclComm comm, aclrtStream stream) {
  const share mine = share_of(model_test_images(m), own);
  float right = (float)model_test(m, mine.first, mine.count);
  sum_over_ranks(&right, 1, device, comm, stream);

  uint64_t all[most_ranks] = {model_fingerprint(m)};
  const size_t bytes = own.size * sizeof *all;
  void* gathered;
  CHECK_ACL(aclrtMalloc(&gathered, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMemcpy(device, sizeof *all, all, sizeof *all, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_HCCL(HcclAllGather(device, gathered, 1, HCCL_DATA_TYPE_UINT64, comm, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
  CHECK_ACL(aclrtMemcpy(all, bytes, gathered, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK_ACL(aclrtFree(gathered));

  int identical = 1;
  for (uint32_t rank = 0; rank < own.size; ++rank) identical &= all[rank] == all[0];
  if (own.rank != 0) return identical;
  printf("test accuracy %.2f %% of %zu images\n", 100 * (double)right / (double)model_test_images(m),
         model_test_images(m));
  for (uint32_t rank = 0; rank < own.size; ++rank)
    printf("weights of rank %u: %016" PRIx64 "\n", (unsigned)rank, all[rank]);
  if (identical) printf("The weights are identical on all %u ranks.\n", (unsigned)own.size);
  return identical;
}

int main(int argc, char** argv) {
  const size_t epochs = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
  const size_t batch = argc > 3 ? strtoul(argv[3], NULL, 10) : 128;
  const job own = find_job();
  if (argc < 2 || epochs == 0 || batch == 0 || own.size > most_ranks) {
    fprintf(stderr, "usage: hcclrun -n 4 train FOLDER [EPOCHS [BATCH]]\n");
    return 2;
  }
  model* m = model_new(argv[1], 1);
  if (!m) return 1;

  CHECK_ACL(aclInit(NULL));
  uint32_t devices;
  CHECK_ACL(aclrtGetDeviceCount(&devices));
  CHECK_ACL(aclrtSetDevice((int32_t)(own.rank % devices)));
  hcclComm_t comm;
  CHECK_HCCL(hcclCommInitAll(&comm, (int)own.size, NULL));
  aclrtStream stream;
  CHECK_ACL(aclrtCreateStream(&stream));
  void* device;
  CHECK_ACL(aclrtMalloc(&device, model_size(m) * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));

  train(m, epochs, batch, own, device, comm, stream);
  const int identical = report(m, own, device, comm, stream);

  CHECK_ACL(aclrtFree(device));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_HCCL(hcclCommDestroy(comm));
  CHECK_ACL(aclFinalize());
  model_free(m);
  return !identical;
}
