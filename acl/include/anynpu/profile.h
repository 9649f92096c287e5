/* SPDX-License-Identifier: Apache-2.0 */
/* Profiling of a whole process by options, as the vendor's PROFILING_OPTIONS has them: a JSON object, of which `output`
 * (a folder, made where it is missing), `task_time`, `msproftx`, `fp_point` and `bp_point` act; what asks for counters
 * of the chip or samples of the machine is told once. docs/profile.md has the table. */
#ifndef ANYNPU_ANYNPU_PROFILE_H_
#define ANYNPU_ANYNPU_PROFILE_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Begins a collection for `deviceId`, which ends with the process; devices used later join. `options` null: those of
 * aclInit's file or, with PROFILING_MODE=true, of PROFILING_OPTIONS; nothing happens without either, nor while a
 * collection runs, and what cannot be is told once. 100006 for what is no JSON object, 100000 for a value that cannot
 * be. */
aclError anynpu_profile_start(const char* options, int32_t deviceId);
/** Ends it, or the collection that aclprofStart began, after what is queued now. 100037 when nothing is open. */
aclError anynpu_profile_stop(void);
/** Whether a collection runs. */
int32_t anynpu_profile_running(void);
/** From now on this thread works for the client's module `path`, "model.layers.3", "" for none: tables by module count
 * for it what the thread asks for (anynpu profile). `phase` is 0 where the module computes, 1 for its gradient, 2 for a
 * step of an optimizer, which is a module of its own. Kept in collections with marks (`msproftx`). 100000 for a null
 * path or another phase. */
aclError anynpu_profile_module(const char* path, int32_t phase);
/** Calls `visit` with the folder of the collection that runs or ran last; not at all before the first. */
void anynpu_profile_folder(void (*visit)(const char* folder, void* context), void* context);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ANYNPU_PROFILE_H_
