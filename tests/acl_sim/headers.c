/* SPDX-License-Identifier: Apache-2.0 */
/* The headers are C: this compiles as C99, without a warning. */

#include "acl/acl.h"

aclError use_headers(void);

aclError use_headers(void) {
  aclrtStream stream = NULL;
  return aclrtMemcpyAsync(NULL, 0, NULL, 0, ACL_MEMCPY_DEFAULT, stream);
}
