/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the program where a call fails, with the sentence that says why. */
#ifndef EXAMPLES_C_CHECK_H
#define EXAMPLES_C_CHECK_H

#include <hccl/hccl.h>

#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_ACL(call)                                                           \
  do {                                                                            \
    if ((call) != ACL_SUCCESS) {                                                  \
      const char* why_ = aclGetRecentErrMsg();                                    \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, why_ ? why_ : "failed"); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

#define CHECK_HCCL(call)                                                      \
  do {                                                                        \
    if ((call) != HCCL_SUCCESS) {                                             \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hcclGetLastError()); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#endif
