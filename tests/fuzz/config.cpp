// SPDX-License-Identifier: Apache-2.0

// Any bytes are a configuration, or are refused.

#include <hccl/hccl_comm.h>

#include <c_api/config.hpp>
#include <c_api/last_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The head is right more often than chance would have it.
  HcclCommConfig given;
  HcclCommConfigInit(&given);
  const bool keeps_head = size > 0 && data[0] % 2 == 0;
  const std::size_t begin = keeps_head ? HCCL_COMM_CONFIG_INFO_BYTES : 0;
  std::memcpy(reinterpret_cast<char*>(&given) + begin, data, std::min(size, sizeof given - begin));
  try {
    const auto read = c_api::config::read(&given);
    if (read.name.size() >= COMM_NAME_MAX_LENGTH || read.algorithm.size() >= HCCL_COMM_ALGO_MAX_LENGTH)
      std::abort();
  } catch (const c_api::refusal&) {
  }
  return 0;
}
