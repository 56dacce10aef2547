// SPDX-License-Identifier: Apache-2.0

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>

int main() {
  std::uint32_t devices = 0;
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtGetDeviceCount(&devices) != ACL_SUCCESS) return 1;
  std::printf("%u devices %s\n", static_cast<unsigned>(devices), aclrtGetSocName());
  return aclFinalize();
}
