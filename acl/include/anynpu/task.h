/* SPDX-License-Identifier: Apache-2.0 */
/* Executed tasks with what they read and wrote, for who computes them once more elsewhere. Off until it is asked for;
 * nothing of what is computed changes. */
#ifndef ANYNPU_ANYNPU_TASK_H_
#define ANYNPU_ANYNPU_TASK_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Members are only ever added at the end; all of it lives during the call. */
typedef struct {
  size_t struct_size;
  const char* text; /**< JSON: operators, fields, tensors; docs/precision.md tells its form */
  size_t blob_count;
  const void* const* blobs; /**< elements of its tensors, row-major, as the text numbers them */
  const size_t* sizes;      /**< bytes of each */
} anynpu_task;

/** From now on calls `visit` for each task that has run, on the thread that ran it; of each kind of operator every
 * `every`-th is shown whole. `visit` must not run operators. Another call takes its place, null ends it. */
void anynpu_watch_tasks(void (*visit)(const anynpu_task* task, void* context), void* context, int64_t every);

/** Writes a task into a new folder: task.json, in which `told` (JSON) is kept, and its tensors as a dump file. */
aclError anynpu_save_task(const anynpu_task* task, const char* folder, const char* told);

/** Reads such a folder and calls `visit` for the task as it was, then for the same with what its operators write when
 * they run again, alone. */
aclError anynpu_replay_task(const char* folder, int32_t device, void (*visit)(const anynpu_task* task, void* context),
                            void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_TASK_H_ */
