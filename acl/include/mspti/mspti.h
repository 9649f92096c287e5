/* SPDX-License-Identifier: Apache-2.0 */
/* MSPTI: what the process does, told to the process itself while it runs, in buffers that the client gives.
 *
 * Subscribe, register the two buffer callbacks, enable kinds, work, flush; full buffers come back by themselves, in a
 * thread of ours, the others in the thread that flushes. Records are packed, and aligned to 8 bytes. Times are
 * nanoseconds of CLOCK_REALTIME. Strings live as long as the process. Nothing has to be preloaded (LD_PRELOAD).
 * Source: the published documentation of msPTI. */
#ifndef ANYNPU_MSPTI_MSPTI_H_
#define ANYNPU_MSPTI_MSPTI_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define MSPTI_INVALID_DEVICE_ID ((uint32_t)0xFFFFFFFFu)
#define MSPTI_INVALID_STREAM_ID ((uint32_t)0xFFFFFFFFu)
#define MSPTI_INVALID_CORRELATION_ID ((uint64_t)0)

typedef enum {
  MSPTI_SUCCESS = 0,
  MSPTI_ERROR_INVALID_PARAMETER = 1,
  MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 2,
  MSPTI_ERROR_MAX_LIMIT_REACHED = 3,
  MSPTI_ERROR_DEVICE_OFFLINE = 4,
  MSPTI_ERROR_QUEUE_EMPTY = 5,
  MSPTI_ERROR_WITHOUT_LD_PRELOAD = 6,
  MSPTI_ERROR_NOT_INITIALIZED = 7,
  MSPTI_ERROR_INVALID_KIND = 8,
  MSPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT = 9,
  MSPTI_ERROR_INNER = 999,
  MSPTI_ERROR_FORCE_INT = 0x7fffffff
} msptiResult;

typedef enum {
  MSPTI_ACTIVITY_KIND_INVALID = 0,
  MSPTI_ACTIVITY_KIND_MARKER = 1, /* marks of MSTX and acl_prof.h */
  MSPTI_ACTIVITY_KIND_KERNEL = 2, /* operators */
  MSPTI_ACTIVITY_KIND_API = 3,    /* both phases of aclnn functions */
  MSPTI_ACTIVITY_KIND_HCCL = 4,   /* collectives */
  MSPTI_ACTIVITY_KIND_MEMORY = 5, /* memory of devices, allocated and freed */
  MSPTI_ACTIVITY_KIND_MEMSET = 6, /* in streams */
  MSPTI_ACTIVITY_KIND_MEMCPY = 7, /* in streams */
  MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 8,
  MSPTI_ACTIVITY_KIND_COMMUNICATION = 9, /* collectives, with what they move */
  MSPTI_ACTIVITY_KIND_ACL_API = 10,      /* all calls of acl… and Hccl… */
  MSPTI_ACTIVITY_KIND_NODE_API = 11,     /* phase 2 of aclnn functions, which queues the task */
  MSPTI_ACTIVITY_KIND_RUNTIME_API = 12,  /* none: this device has no calls below AscendCL */
  MSPTI_ACTIVITY_KIND_OVERHEAD = 13,     /* none */
  MSPTI_ACTIVITY_KIND_COUNT,
  MSPTI_ACTIVITY_KIND_FORCE_INT = 0x7fffffff
} msptiActivityKind;

typedef enum { MSPTI_ACTIVITY_SOURCE_KIND_HOST = 0, MSPTI_ACTIVITY_SOURCE_KIND_DEVICE = 1 } msptiActivitySourceKind;

typedef enum {
  MSPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
  MSPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 2,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 3,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 4,
  MSPTI_EXTERNAL_CORRELATION_KIND_SIZE,
  MSPTI_EXTERNAL_CORRELATION_KIND_FORCE_INT = 0x7fffffff
} msptiExternalCorrelationKind;

/** Of a marker; the later three where the mark has a stream. */
typedef enum {
  MSPTI_ACTIVITY_FLAG_NONE = 0,
  MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS = 1 << 0,
  MSPTI_ACTIVITY_FLAG_MARKER_START = 1 << 1,
  MSPTI_ACTIVITY_FLAG_MARKER_END = 1 << 2,
  MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS_WITH_DEVICE = 1 << 3,
  MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE = 1 << 4,
  MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE = 1 << 5
} msptiActivityFlag;

typedef enum {
  MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION = 0,
  MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE = 1
} msptiActivityMemoryOperationType;

typedef enum {
  MSPTI_ACTIVITY_MEMORY_UNKNOWN = 0,
  MSPTI_ACTIVITY_MEMORY_DEVICE = 1,
  MSPTI_ACTIVITY_MEMORY_HOST = 2,
  MSPTI_ACTIVITY_MEMORY_MANAGED = 3
} msptiActivityMemoryKind;

typedef enum {
  MSPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
  MSPTI_ACTIVITY_MEMCPY_KIND_HTOH = 1,
  MSPTI_ACTIVITY_MEMCPY_KIND_HTOD = 2,
  MSPTI_ACTIVITY_MEMCPY_KIND_DTOH = 3,
  MSPTI_ACTIVITY_MEMCPY_KIND_DTOD = 4,
  MSPTI_ACTIVITY_MEMCPY_KIND_DEFAULT = 5
} msptiActivityMemcpyKind;

typedef enum {
  MSPTI_ACTIVITY_COMMUNICATION_INT8 = 0,
  MSPTI_ACTIVITY_COMMUNICATION_INT16 = 1,
  MSPTI_ACTIVITY_COMMUNICATION_INT32 = 2,
  MSPTI_ACTIVITY_COMMUNICATION_FP16 = 3,
  MSPTI_ACTIVITY_COMMUNICATION_FP32 = 4,
  MSPTI_ACTIVITY_COMMUNICATION_INT64 = 5,
  MSPTI_ACTIVITY_COMMUNICATION_UINT64 = 6,
  MSPTI_ACTIVITY_COMMUNICATION_UINT8 = 7,
  MSPTI_ACTIVITY_COMMUNICATION_UINT16 = 8,
  MSPTI_ACTIVITY_COMMUNICATION_UINT32 = 9,
  MSPTI_ACTIVITY_COMMUNICATION_FP64 = 10,
  MSPTI_ACTIVITY_COMMUNICATION_BFP16 = 11,
  MSPTI_ACTIVITY_COMMUNICATION_INVALID_TYPE = 0x0000FFFF
} msptiCommunicationDataType;

#define ANYNPU_MSPTI_RECORD __attribute__((__packed__)) __attribute__((aligned(8)))

typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
} msptiActivity;

typedef union __attribute__((__packed__)) {
  struct {
    uint32_t processId;
    uint32_t threadId;
  } pt;
  struct {
    uint32_t deviceId;
    uint32_t streamId;
  } ds;
} msptiObjectId;

/** A moment, the start or the end of a range; `id` is the same of both, and of the stream's. `name` is null of an end,
 * `domain` of marks without one. */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  msptiActivityFlag flag;
  msptiActivitySourceKind sourceKind;
  uint64_t timestamp;
  uint64_t id;
  msptiObjectId objectId;
  const char* name;
  const char* domain;
} msptiActivityMarker;

/** A call of the host. */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  uint64_t start;
  uint64_t end;
  struct {
    uint32_t processId;
    uint32_t threadId;
  } pt;
  uint64_t correlationId;
  const char* name;
} msptiActivityApi;

/** An operator; `correlationId` is that of the call which queued it, `type` the unit of the chip (AI_CORE …). */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  uint64_t start;
  uint64_t end;
  struct {
    uint32_t deviceId;
    uint32_t streamId;
  } ds;
  uint64_t correlationId;
  const char* type;
  const char* name;
} msptiActivityKernel;

/** `bandWidth` in GB/s, of what the rank gives. */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  uint64_t start;
  uint64_t end;
  struct {
    uint32_t deviceId;
    uint32_t streamId;
  } ds;
  double bandWidth;
  const char* name;
  const char* commName;
} msptiActivityHccl;

typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  msptiActivityMemoryOperationType memoryOperationType;
  msptiActivityMemoryKind memoryKind;
  uint64_t correlationId;
  uint64_t start;
  uint64_t end;
  uint64_t address;
  uint64_t bytes;
  uint32_t processId;
  uint32_t deviceId;
  uint32_t streamId;
} msptiActivityMemory;

/** `value` is 0: it is not recorded. */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t deviceId;
  uint32_t streamId;
  uint64_t correlationId;
  uint8_t isAsync;
} msptiActivityMemset;

typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  msptiActivityMemcpyKind copyKind;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t deviceId;
  uint32_t streamId;
  uint64_t correlationId;
  uint8_t isAsync;
} msptiActivityMemcpy;

/** The call `correlationId` was made while `externalId` was pushed; of a call in two phases, also when its first. */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  msptiExternalCorrelationKind externalKind;
  uint64_t externalId;
  uint64_t correlationId;
} msptiActivityExternalCorrelation;

/** `count` elements of `dataType` are what the rank gives. */
typedef struct ANYNPU_MSPTI_RECORD {
  msptiActivityKind kind;
  msptiCommunicationDataType dataType;
  uint64_t count;
  struct {
    uint32_t deviceId;
    uint32_t streamId;
  } ds;
  uint64_t start;
  uint64_t end;
  const char* algType;
  const char* name;
  const char* commName;
  uint64_t correlationId;
} msptiActivityCommunication;

typedef enum {
  MSPTI_CB_DOMAIN_INVALID = 0,
  MSPTI_CB_DOMAIN_RUNTIME = 1,
  MSPTI_CB_DOMAIN_HCCL = 2,
  MSPTI_CB_DOMAIN_SIZE,
  MSPTI_CB_DOMAIN_FORCE_INT = 0x7fffffff
} msptiCallbackDomain;
typedef uint32_t msptiCallbackId;
/** Of functions. Only these numbers are published: all others are told by their names, with number 0. */
typedef enum {
  MSPTI_CBID_RUNTIME_INVALID = 0,
  MSPTI_CBID_RUNTIME_DEVICE_SET = 1,   /* aclrtSetDevice */
  MSPTI_CBID_RUNTIME_DEVICE_RESET = 2, /* aclrtResetDevice */
  MSPTI_CBID_RUNTIME_FORCE_INT = 0x7fffffff
} msptiCallbackIdRuntime;
typedef enum { MSPTI_API_ENTER = 0, MSPTI_API_EXIT = 1, MSPTI_API_CBSITE_FORCE_INT = 0x7fffffff } msptiApiCallbackSite;
/** What a callback is told. `functionParams`, `functionReturnValue` and `symbolName` are null: they are not kept.
 * `correlationId` is that of the call's activity. What is written to `*correlationData` when a call begins stands there
 * when it ends. */
typedef struct {
  msptiApiCallbackSite callbackSite;
  const char* functionName;
  const void* functionParams;
  const void* functionReturnValue;
  const char* symbolName;
  uint64_t correlationId;
  uint64_t reserved1;
  uint64_t reserved2;
  uint64_t* correlationData;
} msptiCallbackData;
typedef void (*msptiCallbackFunc)(void* userdata, msptiCallbackDomain domain, msptiCallbackId cbid,
                                  const msptiCallbackData* cbdata);
typedef struct msptiSubscriber_st* msptiSubscriberHandle;

/** There is one subscriber: 2 while there is another, 1 for null. `callback` may be null for one that wants activities
 * alone; it is called in the thread of the function, before it begins and when it has ended, for what is enabled below.
 * What it calls itself calls it no more. */
msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback, void* userdata);
/** Kinds stay enabled, callbacks do not. 1 for what is no subscriber. */
msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber);
/** The callback for all functions of a domain, acl… (1; without aclnn…) or Hccl… (2), where `enable` is not 0. 1 for
 * what is no subscriber, has no callback, or for what is no domain. */
msptiResult msptiEnableDomain(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain);
/** The same for one function, by its number; 1 for a number that is not published, and a line that tells so. */
msptiResult msptiEnableCallback(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain,
                                msptiCallbackId cbid);

/** Asks for an empty buffer of `*size` bytes, for at most `*maxNumRecords` of them (0: no limit). A null buffer drops
 * the record. May be called in any thread, also while a task runs. */
typedef void (*msptiBuffersCallbackRequestFunc)(uint8_t** buffer, size_t* size, size_t* maxNumRecords);
/** Gives it back with `validSize` bytes of records. */
typedef void (*msptiBuffersCallbackCompleteFunc)(uint8_t* buffer, size_t size, size_t validSize);

/** 1 for null. */
msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc funcBufferRequested,
                                           msptiBuffersCallbackCompleteFunc funcBufferCompleted);
/** 7 before buffers are registered; 8 for what is no kind. */
msptiResult msptiActivityEnable(msptiActivityKind kind);
msptiResult msptiActivityDisable(msptiActivityKind kind);
bool msptiActivityIsEnabled(msptiActivityKind kind);
/** Markers of a domain; all are enabled at first. 1 for null. */
msptiResult msptiActivityEnableMarkerDomain(const char* name);
msptiResult msptiActivityDisableMarkerDomain(const char* name);
/** The record after `*record`, the first for null; 3 when there is no more. */
msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes, msptiActivity** record);
/** Gives back, in this thread, all buffers with records. What still runs is not waited for. */
msptiResult msptiActivityFlushAll(uint32_t flag);
/** Calls of this thread are for `id` from now on; 1 for what is no kind. */
msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id);
/** Ends that; `lastId` may be null. 5 when this thread has pushed nothing. */
msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t* lastId);
/** Since the last call; `context` and `streamId` are not looked at. 1 for null. */
msptiResult msptiActivityGetNumDroppedRecords(void* context, uint32_t streamId, size_t* dropped);
/** This moment as records have it. 1 for null. */
msptiResult msptiGetTimestamp(uint64_t* timestamp);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_MSPTI_MSPTI_H_
