/* SPDX-License-Identifier: Apache-2.0 */
/* What profiled libraries report about themselves. Records are counted by kind; nothing collects them yet, and the
 * functions that would start it (aclprofInit …) are exported to say so: they refuse with 207000. */
#ifndef ANYNPU_ACL_ACL_PROF_H_
#define ANYNPU_ACL_ACL_PROF_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** What a collection of facts would be told; only pointers cross the border. */
typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofStepInfo aclprofStepInfo;

typedef enum {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_NONE = 255
} aclprofAicoreMetrics;

typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;

/** Told about the start and stop of profiling: (kind, data, bytes) -> 0. */
typedef int32_t (*MsprofCommandHandle)(uint32_t type, void* data, uint32_t length);

/** Number of a text: the same in every process and run; 0 for null or empty text. */
uint64_t MsprofGetHashId(const char* text, size_t length);
/** Nanoseconds of a steady clock; the time stamp of records. Never goes back. */
uint64_t MsprofSysCycleTime(void);
/** Keeps the callback of `module` (a later one replaces it). 100000 for a null callback. */
int32_t MsprofRegisterCallback(uint32_t module, MsprofCommandHandle callback);
/** Count a record: of a call, of a task's short facts, of its long ones. `aging`
 * (whether old records may be dropped) is ignored; `length` is in bytes. 100000 for a null record or length 0. */
int32_t MsprofReportApi(uint32_t aging, const void* record);
int32_t MsprofReportCompactInfo(uint32_t aging, const void* record, uint32_t length);
int32_t MsprofReportAdditionalInfo(uint32_t aging, const void* record, uint32_t length);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_PROF_H_
