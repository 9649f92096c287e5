// SPDX-License-Identifier: Apache-2.0
// Arguments are translated and everything else is left to comm, which words its own refusals. Within a group nothing is
// queued before the group ends.
#include "acl/collective/handle.h"
#include "acl/include/hccl/hccl.h"
#include "device/context/context.h"

using namespace npu;  // NOLINT: the C functions below are the door itself

namespace {

using comm::Element;
using comm::ReduceOp;

/// Queues `work(communicator, stream)`, now or with the thread's group.
// The communicator is looked up now: a handle that is wrong is told by the call that passed it.
template <class F>
HcclResult operation(const char* function, HcclComm comm, aclrtStream stream, F&& work) {
  return acl::hccl(function, [&] {
    acl::in_group([communicator = acl::communicator_of(comm), stream, work = std::forward<F>(work)] {
      work(*communicator, device::stream_from_handle(stream));
    });
  });
}

// The vendor's numbers are ours; a wrong one is refused where the reduction is chosen.
ReduceOp reduce_op(HcclReduceOp op) { return static_cast<ReduceOp>(op); }

// The interface gives a type for each side; both count the same elements.
Element same_element(HcclDataType sent, HcclDataType received) {
  if (sent != received)
    comm::fault(comm::Result::kParameter, "EI0003: sendType is {} and recvType {}; they must be the same",
                static_cast<int>(sent), static_cast<int>(received));
  return acl::element_of(sent);
}

// Declared const in the vendor's interface although it is written.
void* writable(const void* buffer) { return const_cast<void*>(buffer); }

}  // namespace

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
  return operation("HcclAllReduce", comm, stream, [=](auto& ranks, auto& queue) {
    comm::all_reduce(ranks, queue, sendBuf, recvBuf, count, acl::element_of(dataType), reduce_op(op));
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
  return operation("HcclReduce", comm, stream, [=](auto& ranks, auto& queue) {
    comm::reduce(ranks, queue, sendBuf, recvBuf, count, acl::element_of(dataType), reduce_op(op), root);
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
  return operation("HcclBroadcast", comm, stream, [=](auto& ranks, auto& queue) {
    comm::broadcast(ranks, queue, buf, count, acl::element_of(dataType), root);
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op,
                             HcclComm comm, aclrtStream stream) {
  return operation("HcclReduceScatter", comm, stream, [=](auto& ranks, auto& queue) {
    comm::reduce_scatter(ranks, queue, sendBuf, recvBuf, recvCount, acl::element_of(dataType), reduce_op(op));
  });
}

HcclResult HcclReduceScatterV(const void* sendBuf, const void* sendCounts, const void* sendDispls, const void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  // The arrays are the caller's: they are read now, also within a group.
  return acl::hccl("HcclReduceScatterV", [&] {
    const auto ranks = acl::communicator_of(comm);
    acl::in_group([=, parts = acl::extents_of(sendCounts, sendDispls, ranks->size(), "sendCounts or sendDispls")] {
      comm::reduce_scatter_v(*ranks, device::stream_from_handle(stream), sendBuf, parts, writable(recvBuf), recvCount,
                             acl::element_of(dataType), reduce_op(op));
    });
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm,
                         aclrtStream stream) {
  return operation("HcclAllGather", comm, stream, [=](auto& ranks, auto& queue) {
    comm::all_gather(ranks, queue, sendBuf, recvBuf, sendCount, acl::element_of(dataType));
  });
}

HcclResult HcclAllGatherV(const void* sendBuf, uint64_t sendCount, const void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return acl::hccl("HcclAllGatherV", [&] {
    // Read now, also within a group, as in HcclReduceScatterV.
    const auto ranks = acl::communicator_of(comm);
    acl::in_group([=, parts = acl::extents_of(recvCounts, recvDispls, ranks->size(), "recvCounts or recvDispls")] {
      comm::all_gather_v(*ranks, device::stream_from_handle(stream), sendBuf, sendCount, writable(recvBuf), parts,
                         acl::element_of(dataType));
    });
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
  return operation("HcclScatter", comm, stream, [=](auto& ranks, auto& queue) {
    comm::scatter(ranks, queue, sendBuf, recvBuf, recvCount, acl::element_of(dataType), root);
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return operation("HcclAlltoAll", comm, stream, [=](auto& ranks, auto& queue) {
    // Every rank sends as much as it receives, so the two numbers say one thing.
    if (sendCount != recvCount)
      comm::fault(comm::Result::kParameter, "EI0003: sendCount is {} and recvCount {}; they must be the same",
                  sendCount, recvCount);
    comm::all_to_all(ranks, queue, sendBuf, writable(recvBuf), sendCount, same_element(sendType, recvType));
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls, HcclDataType sendType,
                         const void* recvBuf, const void* recvCounts, const void* rdispls, HcclDataType recvType,
                         HcclComm comm, aclrtStream stream) {
  return acl::hccl("HcclAlltoAllV", [&] {
    const auto ranks = acl::communicator_of(comm);
    acl::in_group([=, sent = acl::extents_of(sendCounts, sdispls, ranks->size(), "sendCounts or sdispls"),
                   received = acl::extents_of(recvCounts, rdispls, ranks->size(), "recvCounts or rdispls")] {
      comm::all_to_all_v(*ranks, device::stream_from_handle(stream), sendBuf, sent, writable(recvBuf), received,
                         same_element(sendType, recvType));
    });
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType, const void* recvBuf,
                          HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return acl::hccl("HcclAlltoAllVC", [&] {
    const auto ranks = acl::communicator_of(comm);
    const auto* counts = static_cast<const uint64_t*>(acl::pointer(sendCountMatrix, "sendCountMatrix"));
    // One number for each pair of ranks.
    acl::in_group([=, matrix = std::vector(counts, counts + size_t{ranks->size()} * ranks->size())] {
      comm::all_to_all_vc(*ranks, device::stream_from_handle(stream), sendBuf, matrix, writable(recvBuf),
                          same_element(sendType, recvType));
    });
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return operation("HcclBarrier", comm, stream, [](auto& ranks, auto& queue) { comm::barrier(ranks, queue); });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return acl::hccl("HcclSend", [&] {
    acl::message_in_group(comm, stream, {false, sendBuf, count, acl::element_of(dataType), destRank});
  });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return acl::hccl("HcclRecv", [&] {
    acl::message_in_group(comm, stream, {true, recvBuf, count, acl::element_of(dataType), srcRank});
  });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream) {
  return acl::hccl("HcclBatchSendRecv", [&] {
    // Checked whole before anything is sent: half of a batch would leave its partners waiting.
    acl::pointer(sendRecvInfo, "sendRecvInfo");
    std::vector<comm::Message> messages;
    for (uint32_t i = 0; i < itemNum; ++i) {
      const HcclSendRecvItem& item = sendRecvInfo[i];
      if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV)
        comm::fault(comm::Result::kParameter, "EI0003: sendRecvType of item {} is {}; it is 0 (send) or 1 (receive)", i,
                    static_cast<int>(item.sendRecvType));
      messages.push_back(
          {item.sendRecvType == HCCL_RECV, item.buf, item.count, acl::element_of(item.dataType), item.remoteRank});
    }
    comm::exchange(*acl::communicator_of(comm), device::stream_from_handle(stream), std::move(messages));
  });
}
