/* SPDX-License-Identifier: Apache-2.0 */
/* Profiling: aclprofInit, aclprofStart, work, aclprofStop, aclprofFinalize. Each start makes a folder
 * PROF_{number}_{time}_{letters} below the one given, with the records of this process; `msprof --export=on
 * --output=PROF_…` makes tables and timelines of them. Nothing is recorded of the chip's counters, which a device in
 * software has not: tables say N/A there. What profiled libraries report about themselves is counted, not kept.
 * Source: vendor documentation of AscendCL, "profiling data collection". */
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

/** What to collect, bits of dataTypeConfig. Others are accepted: they ask for counters of the chip. */
#define ACL_PROF_ACL_API 0x0001ULL   /* calls of the host */
#define ACL_PROF_TASK_TIME 0x0002ULL /* of tasks, beside their times, what they read and write */
#define ACL_PROF_AICORE_METRICS 0x0004ULL
#define ACL_PROF_AICPU 0x0008ULL
#define ACL_PROF_L2CACHE 0x0010ULL
#define ACL_PROF_HCCL_TRACE 0x0020ULL
#define ACL_PROF_TRAINING_TRACE 0x0040ULL
#define ACL_PROF_MSPROFTX 0x0080ULL /* what clients mark */
#define ACL_PROF_RUNTIME_API 0x0100ULL
#define ACL_PROF_TASK_TIME_L0 0x0800ULL
#define ACL_PROF_TASK_MEMORY 0x1000ULL

/** Opens profiling below the folder `profilerResultPath` (`length` bytes), which exists. 100000 for a null path, length
 * 0 or what is no folder to write to; 100002 while it is open. */
aclError aclprofInit(const char* profilerResultPath, size_t length);
/** Ends it, and a collection that still runs. 100037 when it is not open. */
aclError aclprofFinalize(void);
/** What a collection is about: `deviceNums` devices, kinds by `dataTypeConfig`. `aicoreMetrics` and `aicoreEvents` name
 * counters that this device has not. Null, with the reason in aclGetRecentErrMsg, for devices that do not exist. */
aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                   aclprofAicoreEvents* aicoreEvents, uint64_t dataTypeConfig);
/** 100000 for what is no configuration, as in all functions that take one. */
aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);
/** Begins a collection. 100001 before aclprofInit, 100042 while one runs, 100000 when its folder cannot be made. */
aclError aclprofStart(const aclprofConfig* profilerConfig);
/** Waits for queued work and ends the collection. 100043 when none runs, 100000 when it began with another
 * configuration. */
aclError aclprofStop(const aclprofConfig* profilerConfig);
/** Checks what aclprofStart would: there is nothing to prepare. */
aclError aclprofWarmup(const aclprofConfig* profilerConfig);
/** Devices that the process sets later join the collection that runs then. */
aclError aclprofRegisterDeviceCallback(void);
/** Settings of samplers of the chip and the machine: 200007, there are none. */
typedef uint32_t aclprofConfigType;
aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength);
/** What is newer than this interface: nothing, `*featuresSize` is 0 and `*featuresData` null. */
aclError aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData);
aclError aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData);

/* Marks of clients, kept while a collection with ACL_PROF_MSPROFTX runs. A stamp has a message (`msgLen` bytes) and
 * serves any number of marks. 100000, in all of these, for what is null, destroyed or not open. */
void* aclprofCreateStamp(void);
void aclprofDestroyStamp(void* stamp);
aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen);
/** Marks this moment. */
aclError aclprofMark(void* stamp);
/** Marks this moment, and the one when `stream` comes to it. 107003 for what is no stream. */
aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);
/** A range of this thread, which aclprofPop ends: the last one first. */
aclError aclprofPush(void* stamp);
aclError aclprofPop(void);
/** A range that any thread may end, once, by its `rangeId`. */
aclError aclprofRangeStart(void* stamp, uint32_t* rangeId);
aclError aclprofRangeStop(uint32_t rangeId);

/** A step of training: from when `stream` comes to ACL_STEP_START to when it comes to ACL_STEP_END. */
aclprofStepInfo* aclprofCreateStepInfo(void);
void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);
aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream stream);

/** Number of a text: the same in every process and run; 0 for null or empty text. */
uint64_t MsprofGetHashId(const char* text, size_t length);
/** Nanoseconds of CLOCK_MONOTONIC_RAW; the time stamp of records. Never goes back. */
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
