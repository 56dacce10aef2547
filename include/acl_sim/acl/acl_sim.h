/* SPDX-License-Identifier: Apache-2.0 */
/* What only the simulated AscendCL has. Not part of acl/acl.h. */
#ifndef HCCLPP_ACL_SIM_ACL_SIM_H
#define HCCLPP_ACL_SIM_ACL_SIM_H

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For a function that aclrtLaunchHostFunc has put into a stream, and that runs: it counts as failed, with this code and
 * sentence, as a task of a device can. 107000 anywhere else. */
aclError aclSimFailTask(aclError code, const char* why);

#ifdef __cplusplus
}
#endif

#endif
