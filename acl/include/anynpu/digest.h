/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of what operators read and write: two runs that should be equal are compared by them (anynpu dump digest),
 * and the first operator that reads the same and writes something else is known. Off until it is asked for. */
#ifndef ANYNPU_ANYNPU_DIGEST_H_
#define ANYNPU_ANYNPU_DIGEST_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** From now on, to the end of the process, writes 64 bits for each tensor that an operator reads or writes to `file`,
 * which is made with the first operator; where it is there, run.digest becomes run.2.digest. `place` may be null, else
 * it names one operator as `anynpu dump digest -json` does: `visit` is called with its type on the thread that ran it,
 * with ASCEND_LAUNCH_BLOCKING=1 that which launched it, and must not run operators. 100003 for a folder that cannot be
 * written, 100000 for a place that is none, 100044 while digests are written. A file that can be written no longer is
 * told of once on stderr. */
aclError anynpu_digest_start(const char* file, const char* place, void (*visit)(const char* type, void* context),
                             void* context);
/** Ends it, and returns when all is written. Without one it does nothing. */
void anynpu_digest_stop(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_DIGEST_H_ */
