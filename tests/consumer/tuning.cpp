// SPDX-License-Identifier: Apache-2.0
// A user of the rules for Auto.

#include <hccl/collectives.hpp>
#include <hccl/tuning/read_tuning.hpp>

int main() {
  try {
    hccl::read_tuning("there is no such file");
  } catch (const hccl::error& e) {
    return e.kind() == hccl::errc::invalid_argument ? 0 : 1;
  }
  return 1;
}
