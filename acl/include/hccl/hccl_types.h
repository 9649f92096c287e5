/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and structures of the collectives; layouts are those that compiled clients contain. */
#ifndef ANYNPU_HCCL_HCCL_TYPES_H_
#define ANYNPU_HCCL_HCCL_TYPES_H_

#include <stdint.h>
#include <string.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What every function returns. The text of a failure is aclGetRecentErrMsg()'s, or, for a call that failed on its
 * stream, comes with the synchronisation of that stream; HcclGetErrorString gives the name of a number. */
typedef enum ANYNPU_ANY_INT {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,   /**< a wrong argument, or arguments that differ between ranks */
  HCCL_E_PTR = 2,    /**< a pointer that must be given is null */
  HCCL_E_MEMORY = 3, /**< out of memory */
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5, /**< not built, or not for these elements */
  HCCL_E_NOT_FOUND = 6,
  HCCL_E_UNAVAIL = 7, /**< the communicator was destroyed, or a resource is missing */
  HCCL_E_SYSCALL = 8,
  HCCL_E_TIMEOUT = 9, /**< ranks did not come in time */
  HCCL_E_OPEN_FILE_FAILURE = 10,
  HCCL_E_TCP_CONNECT = 11,
  HCCL_E_ROCE_CONNECT = 12,
  HCCL_E_TCP_TRANSFER = 13,
  HCCL_E_ROCE_TRANSFER = 14,
  HCCL_E_RUNTIME = 15,
  HCCL_E_DRV = 16,
  HCCL_E_PROFILING = 17,
  HCCL_E_CCE = 18,
  HCCL_E_NETWORK = 19, /**< no port to listen at */
  HCCL_E_AGAIN = 20,
  HCCL_E_REMOTE = 21, /**< another rank ended, stopped or left */
  HCCL_E_SUSPENDING = 22
} HcclResult;

/** Element types. Integers of 8 to 64 bits, FP16, BFP16, FP32 and FP64 are reduced; the others are only moved. */
typedef enum ANYNPU_ANY_INT {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11,
  HCCL_DATA_TYPE_INT128 = 12,
  HCCL_DATA_TYPE_HIF8 = 14,
  HCCL_DATA_TYPE_FP8E4M3 = 15,
  HCCL_DATA_TYPE_FP8E5M2 = 16,
  HCCL_DATA_TYPE_FP8E8M0 = 17,
  HCCL_DATA_TYPE_RESERVED = 255
} HcclDataType;

/** How elements are reduced. Integers wrap; FP16 and BFP16 are computed in float32 and rounded once; ranks are taken in
 * the order 0, 1, 2 …, so every rank and every run gets the same bits. */
typedef enum ANYNPU_ANY_INT {
  HCCL_REDUCE_SUM = 0,
  HCCL_REDUCE_PROD = 1,
  HCCL_REDUCE_MAX = 2,
  HCCL_REDUCE_MIN = 3,
  HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

/** A communicator: one rank's handle. Unknown or destroyed ones are recognised and refused. */
typedef void* HcclComm;

#define HCCL_ROOT_INFO_BYTES 4108
/** Made by one rank, passed to all as bytes. */
typedef struct {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

#define COMM_NAME_MAX_LENGTH 128

/** Settings of one communicator. HcclCommConfigInit fills it with "unset"; fields beyond the size that the caller's
 * header knew are not looked at. Acted on: hcclCommName, hcclExecTimeOut, hcclAlgo. The others, which choose links and
 * buffers of hardware, are accepted without effect, if they have values of theirs: others are refused by name. */
typedef struct {
  uint64_t size; /**< of this structure, as the caller knew it */
  uint32_t magic;
  uint32_t version;
  uint64_t reserved;
  uint32_t hcclBufferSize;                 /**< megabytes, at least 1; 0xffffffff: unset */
  uint32_t hcclDeterministic;              /**< 0 to 2; sums always have one order */
  char hcclCommName[COMM_NAME_MAX_LENGTH]; /**< "" : one is made */
  char hcclUdi[128];
  uint32_t hcclOpExpansionMode;  /**< 0 to 7: which processor would expand the calls */
  uint32_t hcclRdmaTrafficClass; /**< 0 to 255, a multiple of 4 */
  uint32_t hcclRdmaServiceLevel; /**< 0 to 7 */
  uint32_t hcclWorldRankID;
  uint64_t hcclJobID;
  uint8_t aclGraphZeroCopyEnable; /**< 0 or 1 */
  int32_t hcclExecTimeOut;        /**< seconds, 0 for ever; -1: HCCL_EXEC_TIMEOUT */
  char hcclAlgo[1600];            /**< as HCCL_ALGO, which it overrides; "": unset */
  char hcclRetryEnable[50];
  char hcclRetryParams[128];
  char hcclBufferName[128];
  uint32_t hcclQos;
  uint64_t hcclSymWinMaxMemSizePerRank;
} HcclCommConfig;

/** Fills `config` with "unset", as this header knows the structure. In the header, because an older one knew less. */
static inline void HcclCommConfigInit(HcclCommConfig* config) {
  if (config == NULL) return;
  memset(config, 0, sizeof *config);
  config->size = sizeof *config;
  config->magic = 0xf0f0f0f0u;
  config->version = 10;
  config->hcclBufferSize = 0xffffffffu;
  config->hcclDeterministic = 0xffffffffu;
  config->hcclRdmaTrafficClass = 0xffffffffu;
  config->hcclRdmaServiceLevel = 0xffffffffu;
  config->hcclExecTimeOut = -1;
  config->hcclQos = 0xffffffffu;
  config->hcclSymWinMaxMemSizePerRank = 16;
}

typedef enum ANYNPU_ANY_INT { HCCL_SEND = 0, HCCL_RECV = 1 } HcclSendRecvType;
/** One of the messages that HcclBatchSendRecv lets progress together. */
typedef struct {
  HcclSendRecvType sendRecvType;
  void* buf;
  uint64_t count;
  HcclDataType dataType;
  uint32_t remoteRank;
} HcclSendRecvItem;

/** HCCL_DETERMINISTIC: whether sums must not depend on timing. They never do here. */
typedef enum ANYNPU_ANY_INT { HCCL_DETERMINISTIC = 0 } HcclConfig;
typedef union {
  int32_t value;
} HcclConfigValue;

#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_HCCL_HCCL_TYPES_H_ */
