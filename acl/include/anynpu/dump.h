/* SPDX-License-Identifier: Apache-2.0 */
/* Data dumps: tensors of executed operators as files that the vendor's tools read. Process-wide; one at a time. */
#ifndef ANYNPU_ANYNPU_DUMP_H_
#define ANYNPU_ANYNPU_DUMP_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Begins a dump: `json` is what aclInit's file would hold, {"dump": {…}}. 100009 for words it does not know and a
 * dump_path that is no folder, 100044 while a dump runs. */
aclError anynpu_dump_start(const char* json);
/** Ends it, and returns when all is written. Without one it does nothing. */
void anynpu_dump_stop(void);
/** Calls `visit` with the folder of the running dump, {dump_path}/{time}; not at all without one. */
void anynpu_dump_folder(void (*visit)(const char* folder, void* context), void* context);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ANYNPU_DUMP_H_
