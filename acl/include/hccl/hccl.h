/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives between devices of one host, in one process or in several. Semantics and names are those of the vendor's
 * public HCCL pages; results do not depend on timing.
 *
 * All operations are queued on `stream` and return at once. Buffers are device memory of the communicator's device;
 * counts are in elements. Every rank makes the same calls in the same order; a send or receive follows the order of its
 * pair. A send buffer may be the receive buffer where the part that stays is at its rank's place (not in all-to-all).
 * A fault (ranks that ask different things, that end, stop or leave) ends the communicator on all ranks: the stream's
 * next synchronisation and every later call give a text that names the rank. */
#ifndef ANYNPU_HCCL_HCCL_H_
#define ANYNPU_HCCL_HCCL_H_

#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Sets one switch for the process. HCCL_E_PARA for an unknown one, or a value outside 0 to 2. */
HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
/** Number of the first field of HcclCommConfig that is not known; clients ask before they set newer fields. */
uint32_t HcclGetCommConfigCapability(void);

/** Begins a group: the calling process listens until all ranks have come, HCCL_CONNECT_TIMEOUT at most. One root info
 * makes one communicator. HCCL_E_NETWORK when no port is free (HCCL_IF_BASE_PORT). */
HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);
/** Joins as `rank` of `nRanks` with the thread's device; returns when all ranks have come. HCCL_E_TIMEOUT names those
 * that are missing; HCCL_E_PARA: ranks that came twice, or of groups of different size. Ranks may be on several
 * hosts (docs/collectives.md); HCCL_E_NETWORK where the network between them cannot be used. */
HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm);
HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      HcclCommConfig* config, HcclComm* comm);
/** Joins as `rank` of the rank table in the file `clusterInfo`. HCCL_E_OPEN_FILE_FAILURE; HCCL_E_PARA with the place in
 * the table. Ranks of several servers meet at the address of rank 0's. */
HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);
HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config,
                                         HcclComm* comm);
/** One communicator for each of `ndev` devices, all ranks in this process. */
HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);
/** A communicator of some ranks of `comm`: `rankIds` equal on all of them, `subCommRankId` the own position there,
 * `subCommId` not used before under `comm`. Others may pass null and 0xFFFFFFFF; they get no communicator. */
HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm);
/** Leaves after the calls queued so far have run, at once after a fault. Calls that others have not answered within 5 s
 * are given up: their streams tell it, and the others hear that this rank has left. */
HcclResult HcclCommDestroy(HcclComm comm);

/** Tell the collectives about device addresses reserved with aclrtReserveMemAddress, and about memory mapped there
 * (aclrtMapMem), for all communicators of the process. On hardware calls on such memory need no copy; here nothing
 * changes, memory of other processes is read where it is. `alignment`, `flags` and `offset` are 0. HCCL_E_PARA: a range
 * that is not reserved, overlaps one that was told, or still has active memory when it is unset; memory outside of such
 * a range, not mapped there from `handle`, or active already. */
HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t alignment, uint64_t flags);
HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr);
HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                      uint64_t flags);
HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);

/** Announces device memory as a symmetric window of the communicator, and ends that. On hardware collectives on such
 * memory need no copy; here nothing changes, memory of other ranks is read where it is. `flag` is 1 to use the window,
 * or 0. HcclCommSymWinGet finds the window that holds [ptr, ptr + size) and how far behind its start `ptr` is.
 * HCCL_E_PARA: memory that is not live, a window that is not registered, a range outside of every window. */
typedef void* HcclCommSymWindow;
HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle,
                                  uint32_t flag);
HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);
HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle, size_t* offset);

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
/** Into a buffer of 128 bytes. */
HcclResult HcclGetCommName(HcclComm commHandle, char* commName);
/** HCCL_SUCCESS, or the number of the fault that ended the communicator. */
HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
/** "HCCL_E_PARA: …"; never null. */
const char* HcclGetErrorString(HcclResult code);

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream);
/** `recvBuf` matters on rank `root` only. */
HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream);
HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream);
/** `sendBuf` holds as many parts of `recvCount` elements as there are ranks. */
HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op,
                             HcclComm comm, aclrtStream stream);
/** Counts and offsets are uint64 arrays of the host, one entry a rank, equal on all ranks. */
HcclResult HcclReduceScatterV(const void* sendBuf, const void* sendCounts, const void* sendDispls, const void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream);
HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm,
                         aclrtStream stream);
HcclResult HcclAllGatherV(const void* sendBuf, uint64_t sendCount, const void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream);
/** `sendBuf` matters on rank `root` only. */
HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream);
/** Counts are per peer; types of both sides must be the same. */
HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream);
HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls, HcclDataType sendType,
                         const void* recvBuf, const void* recvCounts, const void* rdispls, HcclDataType recvType,
                         HcclComm comm, aclrtStream stream);
/** `sendCountMatrix`: uint64, row r what rank r sends to each; buffers are packed. */
HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType, const void* recvBuf,
                          HcclDataType recvType, HcclComm comm, aclrtStream stream);
HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream);
HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream);
/** `sendRecvInfo`: an array of HcclSendRecvItem. */
HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream);

/** Calls between start and end are queued at the end; sends and receives of one communicator and stream then progress
 * together. May be nested. */
HcclResult HcclGroupStart(void);
HcclResult HcclGroupEnd(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* ANYNPU_HCCL_HCCL_H_ */
