/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled functions of graphs that are kept on disk (anynpu_library_keep in anynpu/graph.h). */
#ifndef ANYNPU_ANYNPU_CACHE_H_
#define ANYNPU_ANYNPU_CACHE_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One entry. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* key;
  const char* function; /**< "" where the file that describes it is gone */
  const char* made;     /**< "2026-05-01T12:00:00Z" */
  int64_t nodes;        /**< of the function, after all passes */
  int64_t bytes;        /**< of its files */
  double compile_ms;    /**< what the passes took when it was made */
  int64_t used_s;       /**< seconds since it was used */
  const char* problem;  /**< why it will not be used; "" for a good one */
} anynpu_kept;

/** The folder of the entries where op_compiler_cache_dir is `folder`; null or "": where it is not set. The text lives
 * until the thread's next call. */
const char* anynpu_kept_folder(const char* folder);
/** Calls `visit` for each entry below `folder`, which is as for anynpu_kept_folder, the last used first. Each is read
 * and checked. 100000 for a null. */
aclError anynpu_each_kept(const char* folder, void (*visit)(const anynpu_kept* entry, void* context), void* context);
/** Removes all entries below `folder`. */
aclError anynpu_clear_kept(const char* folder);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_CACHE_H_ */
