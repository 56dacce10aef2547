/* SPDX-License-Identifier: Apache-2.0 */
/* What a launcher tells a process: hcclrun, torchrun, mpirun of Open MPI or MPICH. */
#ifndef EXAMPLES_C_JOB_H
#define EXAMPLES_C_JOB_H

#include <stdint.h>
#include <stdlib.h>

typedef struct {
  uint32_t rank, size;
} job;

static inline uint32_t first_of(const char* const* names, uint32_t none) {
  for (; *names; ++names) {
    const char* value = getenv(*names);
    if (value) return (uint32_t)strtoul(value, NULL, 10);
  }
  return none;
}

static inline job find_job(void) {
  static const char* const rank_names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
  static const char* const size_names[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  const job found = {first_of(rank_names, 0), first_of(size_names, 1)};
  return found;
}

#endif
