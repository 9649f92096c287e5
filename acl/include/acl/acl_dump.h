/* SPDX-License-Identifier: Apache-2.0 */
/* Data dumps handed to a function of the client, in place of the disk. */
#ifndef ANYNPU_ACL_ACL_DUMP_H_
#define ANYNPU_ACL_ACL_DUMP_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096

/** Part of a file of a dump. It is valid while the function runs that it was given to. */
typedef struct acldumpChunk {
  char fileName[ACL_DUMP_MAX_FILE_PATH_LENGTH]; /**< the file that would have been written */
  uint32_t bufLen;                              /**< bytes in dataBuf: 1 to 1048576 */
  uint32_t isLastChunk;                         /**< 1 with the last part of the file, else 0 */
  int64_t offset;                               /**< of dataBuf in the file; -1: it is to be appended (mapping.csv) */
  int32_t flag;                                 /**< 0 */
  __extension__ uint8_t dataBuf[0];
} acldumpChunk;

/** From now on, what dumps write (aclInit's file, aclmdlSetDump, data, statistics, overflows, failures) is given to
 * `messageCallback` and not to the disk; the folder `dump_path` must be there all the same. `len` is
 * sizeof(acldumpChunk) + bufLen. It is called from threads of the dump, by one at a time, the parts of a file one
 * behind the other; until the process ends, or acldumpUnregCallback. Where it returns another value than 0, the dump
 * ends and says so, and what the device computes goes on. `flag`: 0, the only value. 100000 without a function, for
 * another flag, and while a function is registered. */
aclError acldumpRegCallback(int32_t (*messageCallback)(const acldumpChunk*, int32_t len), int32_t flag);
/** Waits until the function has had all that was dumped so far (synchronise the streams first); it is not called again.
 * A dump that still runs goes on, to the disk. 100000 where no function is registered, and from inside of it. */
aclError acldumpUnregCallback(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
