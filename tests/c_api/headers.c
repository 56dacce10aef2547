/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of the HCCL API are valid C99 and C++17, and warn of nothing. */
#include "hccl/hccl.h"

int main(void) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  return config.hcclBufferSize == HCCL_COMM_CONFIG_NOT_SET ? 0 : 1;
}
