/* SPDX-License-Identifier: Apache-2.0 */
/* Models. None of it is built yet: the three dump functions exist because clients link them, and answer 207000 with a
 * text that says so. */
#ifndef ANYNPU_ACL_ACL_MDL_H_
#define ANYNPU_ACL_ACL_MDL_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Start of tensor dumps: always 207000. */
aclError aclmdlInitDump(void);
/** What to dump, as a path of a JSON file: always 207000, the file is not read. */
aclError aclmdlSetDump(const char* dumpCfgPath);
/** End of tensor dumps: always 207000, since none was started. */
aclError aclmdlFinalizeDump(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_MDL_H_
