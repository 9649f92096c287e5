// SPDX-License-Identifier: Apache-2.0
// The collectives, one file each. All are queued on a stream of the communicator's device and return at once; counts
// are in elements. Arguments are checked before anything is queued: device memory of the right size and device
// (107000), a root that is a rank, a dtype that can be reduced (Result::kParameter, kUnsupported). What only shows when
// the ranks meet (EI0005) ends the communicator. A send buffer may be the receive buffer, where the part that stays in
// place stands at its own rank's position; other overlaps give undefined results.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator/communicator.h"
#include "comm/core/call.h"

namespace npu::comm {

/// How elements are told apart: dtype for arithmetic and texts, kUndefined for types that are only moved.
struct Element {
  DType dtype = DType::kUndefined;
  uint32_t bytes = 0;
  uint32_t columns = 0;  ///< of the matrix that they are; ranks must agree on it
};

/// recv = send of rank 0 op send of rank 1 op …, on every rank.
void all_reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
                ReduceOp op);
/// The same on rank `root` only; `recv` of others is not touched and may be null.
void reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
            ReduceOp op, uint32_t root);
/// `buffer` of rank `root` goes to all.
void broadcast(Communicator& communicator, Lane lane, void* buffer, uint64_t count, Element element, uint32_t root);
/// send holds size() * count elements; rank r gets the reduced part r.
void reduce_scatter(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count,
                    Element element, ReduceOp op);
/// The same with parts of unequal size, `parts[r]` for rank r, equal on all ranks.
void reduce_scatter_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> parts, void* recv,
                      uint64_t count, Element element, ReduceOp op);
/// recv holds size() * count elements: those of rank 0, of rank 1 …
void all_gather(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element);
/// The same with parts of unequal size, `parts[r]` of recv for what rank r sends.
void all_gather_v(Communicator& communicator, Lane lane, const void* send, uint64_t count, void* recv,
                  std::vector<Extent> parts, Element element);
/// send of rank `root` holds size() * count elements; rank r gets part r. `send` of others may be null.
void scatter(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
             uint32_t root);
/// Part r of send goes to rank r; part r of recv comes from it. `count` elements each.
void all_to_all(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element);
/// The same with parts of unequal size.
void all_to_all_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> sent, void* recv,
                  std::vector<Extent> received, Element element);
/// The same, packed, from a matrix equal on all ranks: row r holds what rank r sends to each.
void all_to_all_vc(Communicator& communicator, Lane lane, const void* send, std::span<const uint64_t> matrix,
                   void* recv, Element element);
/// Returns on the stream when all ranks have come.
void barrier(Communicator& communicator, Lane lane);

/// One message of a pair.
struct Message {
  bool receives = false;
  void* buffer = nullptr;
  uint64_t count = 0;
  Element element;
  uint32_t peer = 0;
  uint32_t tag = 0;  ///< the same on both sides
};
/// Sends and receives that progress together; each meets its counterpart in the order of calls between the two ranks.
void exchange(Communicator& communicator, Lane lane, std::vector<Message> messages);

}  // namespace npu::comm
