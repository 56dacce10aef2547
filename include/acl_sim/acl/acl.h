/* SPDX-License-Identifier: Apache-2.0 */
/* AscendCL over simulated devices: the part of it that communication needs. */
#ifndef HCCLPP_ACL_SIM_ACL_H
#define HCCLPP_ACL_SIM_ACL_H

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begins and ends the use of AscendCL in a process. `configPath` may be NULL. */
aclError aclInit(const char* configPath);
aclError aclFinalize(void);

/* What went wrong last in this thread, in a sentence; NULL if nothing did. */
const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
