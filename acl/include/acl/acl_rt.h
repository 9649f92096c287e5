/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime: devices, contexts, streams, events, memory, copies and callbacks.
 *
 * Every function returns 0 or an ACL_ERROR_ number; aclGetRecentErrMsg() then tells what was wrong and what to do, and
 * the process log has it as an ERROR line.
 * Sizes are bytes, device numbers start at 0. No argument crashes the process: a null, unknown or destroyed handle and
 * an address outside live memory are refused. Work on a stream runs in the order it was queued; an error in it is
 * reported by the next synchronize or query. In a child forked after the first use of a device every call fails. */
#ifndef ANYNPU_ACL_ACL_RT_H_
#define ANYNPU_ACL_ACL_RT_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* What an event will be used for: waits, progress of a stream, time stamps, other processes. An event made without
 * ACL_EVENT_TIME_LINE has no time stamps. ACL_EVENT_EXTERNAL, which cannot be combined, makes a flag between recorded
 * streams and others: a record sets it, a reset clears it, a wait waits until it is set, even when the record is queued
 * later; a captured stream records all three, and each run waits anew. */
#define ACL_EVENT_SYNC 0x00000001u
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002u
#define ACL_EVENT_TIME_LINE 0x00000008u
#define ACL_EVENT_EXTERNAL 0x00000020u
#define ACL_EVENT_IPC 0x00000040u

/* Hints about how a stream is driven; all are accepted, none is needed here. */
#define ACL_STREAM_FAST_LAUNCH 0x00000001u
#define ACL_STREAM_FAST_SYNC 0x00000002u
#define ACL_STREAM_PERSISTENT 0x00000004u
#define ACL_STREAM_HUGE 0x00000008u
#define ACL_STREAM_CPU_SCHEDULE 0x00000010u
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020u

/* Whether tasks queued behind a failed one still run. */
#define ACL_CONTINUE_ON_FAILURE 0x00000000u
#define ACL_STOP_ON_FAILURE 0x00000001u

/** Memory of a device that is not mapped to any address yet. */
typedef void* aclrtDrvMemHandle;
/** Tasks of a recorded stream that are replaced together (aclmdlRICaptureTaskGrpEnd). */
typedef void* aclrtTaskGrp;
/** An argument of functions that are not built; the headers of torch-npu name it. */
typedef struct aclrtMallocConfig aclrtMallocConfig;

/** A range of memory that a card could not repair; the memory of a host has none to tell of. */
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
typedef struct aclrtMemUceInfo {
  void* addr;
  size_t len; /**< bytes */
  size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

/** Runs in the thread that calls aclrtProcessReport. */
typedef void (*aclrtCallback)(void* userData);
/** Runs in a thread of the library, in its place on the stream; later work waits for it. */
typedef void (*aclrtHostFunc)(void* args);
/** What failed; readable by the functions below while the callback runs. */
typedef struct aclrtExceptionInfo aclrtExceptionInfo;
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo* exceptionInfo);

/** Whether this program runs on the device's own processor, or on a host beside it. */
typedef enum ANYNPU_ANY_INT { ACL_DEVICE = 0, ACL_HOST = 1 } aclrtRunMode;
typedef enum ANYNPU_ANY_INT { ACL_TS_ID_AICORE = 0, ACL_TS_ID_AIVECTOR = 1, ACL_TS_ID_RESERVED = 2 } aclrtTsId;
typedef enum ANYNPU_ANY_INT { ACL_CALLBACK_NO_BLOCK = 0, ACL_CALLBACK_BLOCK = 1 } aclrtCallbackBlockType;
typedef enum ANYNPU_ANY_INT { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

/** aclrtQueryEvent. Mind that aclrtQueryEventStatus counts the other way round. */
typedef enum ANYNPU_ANY_INT {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;
/** aclrtQueryEventStatus: whether the last record was reached; an event never recorded counts as complete. */
typedef enum ANYNPU_ANY_INT {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;
/** aclrtQueryEventWaitStatus: whether the waits for the event are over. */
typedef enum ANYNPU_ANY_INT {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF
} aclrtEventWaitStatus;
/** aclrtStreamQuery: whether everything queued so far is done. */
typedef enum ANYNPU_ANY_INT {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF
} aclrtStreamStatus;

/** What aclrtSetStreamAttribute sets. */
typedef enum ANYNPU_ANY_INT {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,         /**< as aclrtSetStreamFailureMode */
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2, /**< as aclrtSetStreamOverflowSwitch */
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,      /**< kept; overflows are found for a whole device, which is told once */
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4 /**< 0 or 1, kept: what profiling of captured work would show of operators */
} aclrtStreamAttr;
typedef union aclrtStreamAttrValue {
  uint64_t failureMode;
  uint32_t overflowSwitch;
  uint32_t userCustomTag;
  uint32_t cacheOpInfoSwitch;
  uint32_t reserve[4];
} aclrtStreamAttrValue;

/** Kinds of cores whose number a limit names. */
typedef enum ANYNPU_ANY_INT { ACL_RT_DEV_RES_CUBE_CORE = 0, ACL_RT_DEV_RES_VECTOR_CORE = 1 } aclrtDevResLimitType;

/** Operations on caches. Only the first is known to devices. */
typedef enum ANYNPU_ANY_INT {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;

/** How host memory is registered. Registers of other cards, and memory that devices may only read, are refused. */
typedef enum ANYNPU_ANY_INT {
  ACL_HOST_REGISTER_MAPPED = 0,
  ACL_HOST_REGISTER_IOMEMORY = 4,
  ACL_HOST_REGISTER_READONLY = 8
} aclrtHostRegisterType;

/** What aclrtHostRegisterV2 does with host memory. */
#define ACL_HOST_REG_MAPPED 0x2UL
#define ACL_HOST_REG_IOMEMORY 0x4UL
#define ACL_HOST_REG_READONLY 0x8UL
#define ACL_HOST_REG_PINNED 0x10000000UL

typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;
/** Percentages; -1 for what cannot be asked. */
typedef struct aclrtUtilizationInfo {
  int32_t cubeUtilization;
  int32_t vectorUtilization;
  int32_t aicpuUtilization;
  int32_t memoryUtilization;
  aclrtUtilizationExtendInfo* utilizationExtend;
} aclrtUtilizationInfo;

/** What a float that is too large becomes: the largest number, or infinity. */
typedef enum ANYNPU_ANY_INT {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1
} aclrtFloatOverflowMode;

/** Options that are kept and given back. Results are deterministic whatever ACL_OPT_DETERMINISTIC says. */
typedef enum ANYNPU_ANY_INT {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2
} aclSysParamOpt;

/** Where aclrtMalloc takes memory from. The software device has one kind of memory; all policies give it. */
typedef enum ANYNPU_ANY_INT {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000
} aclrtMemMallocPolicy;

/** Where a copy comes from and goes to. A kind that contradicts the addresses is refused with 107000: that is mostly
 * a mistake in the program. The three device-to-device kinds mean the same. */
typedef enum ANYNPU_ANY_INT {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4, /**< the addresses tell */
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

/** Kinds of device memory. There is one here, so every kind names it and has the same size. */
typedef enum ANYNPU_ANY_INT {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/** Where an address lies: aclrtMallocHost gives HOST, aclrtMalloc DEVICE, everything else is UNREGISTERED. */
typedef enum ANYNPU_ANY_INT {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;
typedef enum ANYNPU_ANY_INT { ACL_MEM_HANDLE_TYPE_NONE = 0 } aclrtMemHandleType;
typedef enum ANYNPU_ANY_INT { ACL_MEM_ALLOCATION_TYPE_PINNED = 0 } aclrtMemAllocationType;
/** Any value names the one granularity there is. */
typedef enum ANYNPU_ANY_INT {
  ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} aclrtMemGranularityOptions;

typedef struct aclrtMemLocation {
  uint32_t id; /**< device number */
  aclrtMemLocationType type;
} aclrtMemLocation;

/** What aclrtMallocPhysical shall give: only `location` matters. */
typedef struct aclrtPhysicalMemProp {
  aclrtMemHandleType handleType;
  aclrtMemAllocationType allocationType;
  aclrtMemAttr memAttr;
  aclrtMemLocation location;
  uint64_t reserve;
} aclrtPhysicalMemProp;

typedef struct aclrtPtrAttributes {
  aclrtMemLocation location;
  uint32_t pageSize; /**< bytes */
  uint32_t rsv[4];
} aclrtPtrAttributes;

typedef struct aclrtUuid {
  char bytes[16];
} aclrtUuid;

/** Numbers of aclrtGetDeviceInfo. */
typedef enum ANYNPU_ANY_INT {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
  ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
  ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
  ACL_DEV_ATTR_PHY_CHIP_ID = 402,
  ACL_DEV_ATTR_IS_VIRTUAL = 501
} aclrtDevAttr;

/* ---- Devices and contexts ---- */

/** Makes the device's default context current for this thread, and counts the call. 107001 for a bad number. */
aclError aclrtSetDevice(int32_t deviceId);
/** Undoes one aclrtSetDevice; at zero the work ends and everything on the device is released. */
aclError aclrtResetDevice(int32_t deviceId);
/** Device of this thread. 107002 when none was set. */
aclError aclrtGetDevice(int32_t* deviceId);
/** NPUs of this process: ANYNPU_DEVICES, or what ASCEND_RT_VISIBLE_DEVICES leaves of them. */
aclError aclrtGetDeviceCount(uint32_t* count);
/** Waits for all streams of the current device; reports the first error found. */
aclError aclrtSynchronizeDevice(void);
/** The same for at most `timeout` ms (-1: no limit); 507046 afterwards. */
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);
/** ACL_HOST: memory of the device is not the program's own, copies are needed. */
aclError aclrtGetRunMode(aclrtRunMode* runMode);
/** Accepted for every aclrtTsId: the software device schedules all work alike. */
aclError aclrtSetTsDevice(aclrtTsId tsId);
/** Version of this interface: 1.1.0. */
aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion);
/** One number about a device: cores, bytes of memory or L2, 1 for "is virtual". 107000 for other attributes. */
aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);
/** User-visible and internal device numbers are the same. */
aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId);
/** The number of the device on the machine: those that ASCEND_RT_VISIBLE_DEVICES names are devices 0, 1 … here. */
aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId);
/** `flags` receives 0, `active` 1 when the device's default context exists. */
aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);
/** 1 for two different devices, 0 for a device and itself. */
aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId);
/** Memory of all devices is always reachable: checks the number only. `flags` must be 0. */
aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);
aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);
/** 16 bytes that name the device: the same in every process of this chip name. */
aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);
/** How busy the device was since the last question, at most a second ago, otherwise during 50 ms from now: the share of
 * time in which its streams had work, of all processes of this user. Both kinds of cores tell the same; there are no AI
 * CPUs, and the use of memory is asked with aclrtGetMemInfo (both -1). */
aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo);
/** Number of cores that work may use: of a stream what was set for it, otherwise of its device, otherwise all of them.
 * The limit is kept and given back, which is told once: kernels run on ANYNPU_THREADS threads whatever it says, with
 * the same results. 107000 for 0, and for more than the SoC has. */
aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value);
aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value);
aclError aclrtResetDeviceResLimit(int32_t deviceId);
/** Process id by which aclrtMemSetPidToShareableHandle knows this process. */
aclError aclrtDeviceGetBareTgid(int32_t* pid);

/** A further context on a device, current for this thread at once. */
aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);
/** Ends a context with its streams. 107000 for a default context, 107017 for a bad handle. */
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
/** 107002 when the thread has no context. */
aclError aclrtGetCurrentContext(aclrtContext* context);

/* ---- Streams ---- */

/** A new in-order stream in the current context. */
aclError aclrtCreateStream(aclrtStream* stream);
/** `priority` 0 (high) to 7 and ACL_STREAM_ flags are kept; neither changes how work runs. */
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);
/** Ends the stream after its work; an error not reported yet is reported here. */
aclError aclrtDestroyStream(aclrtStream stream);
/** Ends the stream at once; work that has not started is dropped. */
aclError aclrtDestroyStreamForce(aclrtStream stream);
/** Drops the work of `stream` that has not started and waits for the task that runs; the stream may be used again.
 * Threads that wait for it get 500001. 107017 for null and a bad handle, 107000 for a captured stream. */
aclError aclrtStreamAbort(aclrtStream stream);
/** Waits for all work queued so far. NULL is the default stream of the current context. */
aclError aclrtSynchronizeStream(aclrtStream stream);
/** At most `timeout` ms (-1: no limit); 507046 afterwards. */
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);
aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);
/** ACL_CONTINUE_ON_FAILURE or ACL_STOP_ON_FAILURE. */
aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);
/** 1 turns overflow detection on for the stream, 0 off. */
aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);
/** The member of `value` that belongs to the attribute. 107000 for other attributes and values. */
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value);
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value);
/** Limits of one stream; see aclrtSetDeviceResLimit. */
aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value);
aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value);
aclError aclrtResetStreamResLimit(aclrtStream stream);
/** Makes the limits of a stream those of this thread (the last call counts), and ends that. */
aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);
aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);
/** The limit in force for this thread and its device. */
aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

/* ---- Events ---- */

/** An event for every use. Recording it again replaces the earlier record; a wait keeps the record it was made for. */
aclError aclrtCreateEvent(aclrtEvent* event);
/** `flag`: ACL_EVENT_ bits, the only uses of the event. ACL_EVENT_IPC is refused (207000). */
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
/** Queues the return to "never recorded". */
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
/** Later work of `stream` starts after the last record of `event`. */
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);
/** Milliseconds between two completed records. 107006 without ACL_EVENT_TIME_LINE or a completed record. */
aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);
/** Microseconds of a steady clock at which the record was reached. */
aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/* ---- Memory ---- */

/** Device memory of `size` bytes, content undefined, 512-byte aligned. 100000 for size 0, 207001 when it is used up. */
aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
/** As aclrtMalloc; there is no device cache to flush or invalidate, both only check the range. */
aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMemFlush(void* devPtr, size_t size);
aclError aclrtMemInvalidate(void* devPtr, size_t size);
/** Takes the first byte of a block. Work queued before may still use it; the memory is reused only after that work. */
aclError aclrtFree(void* devPtr);
/** Page-locked host memory: asynchronous copies from and to it return at once. */
aclError aclrtMallocHost(void** hostPtr, size_t size);
aclError aclrtFreeHost(void* hostPtr);
/** Lets the current device reach `size` bytes of host memory that start at a page (a multiple of 4096): memory of
 * aclrtMallocHost, or the program's own. Tensors may lie at `devPtr`, which here is `ptr`; copies take it as the host
 * memory it is. 107000 for other addresses, and for memory that is registered already. */
aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr);
/** The same with one or both of these flags: ACL_HOST_REG_MAPPED lets the current device reach the memory, whose
 * address there aclrtHostGetDevicePointer gives; ACL_HOST_REG_PINNED page-locks memory of the program's own (malloc,
 * mmap), so that asynchronous copies return at once. 207000 for ACL_HOST_REG_IOMEMORY and ACL_HOST_REG_READONLY. */
aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);
/** The address by which a device reaches host memory that was registered with ACL_HOST_REG_MAPPED; `flag` is 0. 107000
 * for other memory. */
aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);
/** Undoes either, once the work queued so far has run. The memory may be freed only after that. */
aclError aclrtHostUnregister(void* ptr);
/** Queues the fetching of a range of the stream's device into the caches: a wish, of which large ranges are followed in
 * part. 207000 for other operations. */
aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream);
/** Free and total bytes of the current device, the same for every aclrtMemAttr. */
aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);
/** Whether an address is device memory, page-locked host memory, or neither ("unregistered"). */
aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

/** Copies `count` bytes and returns when they have arrived; work queued before on the default stream comes first.
 * 107000 when `count` passes `destMax`, a range is not live memory, or `kind` contradicts the addresses. */
aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind);
/** Queues the copy. Ordinary (not page-locked) host memory is read before the call returns, and written before it
 * returns. Source and destination may overlap. */
aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream);
aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream);
/** Fills `count` bytes of device memory, or of memory of aclrtMallocHost, with the low byte of `value`. Ordinary host
 * memory is refused (107000). */
aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);
aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream);

/** Copies `height` rows of `width` bytes, `dpitch` and `spitch` bytes apart, between host and device. 107000 for other
 * kinds, a row that does not fit into a pitch, more than 5 * 2^20 rows, and as aclrtMemcpy. */
aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind);
aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream);
/** `numBatches` copies in one call. attrs[k] says where the memory of the copies from attrsIndexes[k] on lies, up to
 * those of the next. `failIndex` receives the number of the copy that is refused, SIZE_MAX for an error of the whole
 * call and for none. Copies before that one were made. */
typedef struct aclrtMemcpyBatchAttr {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
} aclrtMemcpyBatchAttr;
aclError aclrtMemcpyBatch(void** dsts, size_t* destMax, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex);
aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMax, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                               aclrtStream stream);

/* ---- Address ranges and the memory mapped into them ---- */

/** Reserves device addresses without memory. `alignment` 0 or a power of two, `flags` 0 or 1; `expectPtr` is a wish. */
aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags);
/** The same: devices here have no address space of their own that could be left out. */
aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                          uint64_t flags);
/** Gives a whole range back; nothing may be mapped in it. */
aclError aclrtReleaseMemAddress(void* virPtr);
/** Memory of the device `prop` names; `size` must be a multiple of the granularity (2 MiB). */
aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags);
/** Ends the handle; the memory stays until it is unmapped everywhere. */
aclError aclrtFreePhysical(aclrtDrvMemHandle handle);
/** Maps a whole handle into a reserved range; `offset` and `flags` must be 0. */
aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags);
aclError aclrtUnmapMem(void* virPtr);
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity);
/** A number by which other processes of this user can import the memory. */
aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle);
aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle);
/** Names processes that may import. Every process of this user may, so the list is checked and changes nothing. */
aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum);

/** How far a shareable handle reaches: DEFAULT within the host, as a uint64_t; FABRIC beyond it is refused (207000). */
typedef enum ANYNPU_ANY_INT {
  ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2
} aclrtMemSharedHandleType;
typedef struct aclrtMemFabricHandle {
  uint8_t data[128];
} aclrtMemFabricHandle;
/** The same as without V2, by the kind of handle; the memory is imported on the current device. `flags` of an import is
 * 0. */
aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void* shareableHandle);
aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle);
aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, int32_t* pid,
                                           size_t pidNum);
/** A further handle of the memory that is mapped around `virPtr`; end it with aclrtFreePhysical. */
aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);

typedef enum ANYNPU_ANY_INT {
  ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
  ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
  ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3
} aclrtMemAccessFlags;
typedef struct aclrtMemAccessDesc {
  aclrtMemAccessFlags flags;
  aclrtMemLocation location;
  uint8_t rsv[12];
} aclrtMemAccessDesc;
/** Checks that a whole mapping may be read and written from the places of `desc`: its own device and the host may,
 * always. 207000 for another device, 107000 for other flags and what is no mapping. */
aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count);

/* ---- Memory that processes of one user share by a key ---- */

#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1UL

/** Writes the key of `size` bytes at `devPtr`, memory of aclrtMalloc, into 65 bytes (`len`). 107000 for memory that is
 * not live, 207000 for mapped or imported memory, and the error of a task on a stream of the device that no
 * synchronisation has told yet. */
aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags);
/** Names processes that may import. Every process of this user may, so the list is checked and changes nothing. */
aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);
/** The same memory in this process, for its current device; it must be kept where it was allocated. 107000 for a key
 * whose process has ended. */
aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);
/** Ends an import (once for each), or, in the process that gave the key, the export. */
aclError aclrtIpcMemClose(const char* key);

/* ---- Callbacks ---- */

/** Names the thread (pthread_self()) that runs the callbacks of `stream` inside aclrtProcessReport. */
aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);
aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);
/** Queues a callback; with ACL_CALLBACK_BLOCK later work of the stream waits for it. 100034 without subscription. */
aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream);
/** Runs the calling thread's callbacks, waiting up to `timeout` ms (-1: no limit) for the first. */
aclError aclrtProcessReport(int32_t timeout);
/** Queues a host function that the runtime itself calls. */
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args);

/* ---- Errors, limits and modes ---- */

/** Code of this thread's last failed call, of aclnn functions too, 0 for none; GetLastError also clears it. */
aclError aclrtGetLastError(aclrtLastErrLevel flag);
aclError aclrtPeekAtLastError(aclrtLastErrLevel flag);
/** Called in the thread that ran a failing task; NULL for nobody. The info is valid during the call. */
aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);
/** 0xFFFFFFFF for NULL, and for an info whose callback has returned. */
uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);

/** Float overflow of the current device: saturate, or IEEE infinities and NaN. 207000 where the SoC cannot. */
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);
aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);
/** Seconds an event wait in a stream may last; 0 = for ever. */
aclError aclrtSetOpWaitTimeout(uint32_t timeout);
/** Limit of one operator in seconds, or microseconds. Kept and given back; operators are not interrupted. */
aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout);

/** Options of the process and of the current context (which comes first). 107000 for an unknown option. */
aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_RT_H_
