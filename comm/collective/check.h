// SPDX-License-Identifier: Apache-2.0
// What collectives check before they queue anything, and how their ranks share the work.
#pragma once

#include "comm/collective/collective.h"
#include "comm/communicator/meeting.h"

namespace npu::comm {

/// Device memory of the communicator's device; raises 107000 naming `what`. Fine for no elements.
void check_buffer(const Communicator& communicator, const void* buffer, uint64_t count, Element element,
                  const char* what);
void check_rank(const Communicator& communicator, uint32_t rank, const char* what);
void check_reduce(Element element, ReduceOp op);
/// One extent a rank, all of them in a buffer that is then checked. Returns its elements.
uint64_t check_parts(const Communicator& communicator, const void* buffer, const std::vector<Extent>& parts,
                     Element element, const char* what);

/// Elements [begin, end) of `count` that `rank` of `size` works on. Whole cache lines, so that two ranks never write
/// to one.
struct Slice {
  uint64_t begin, end;
  uint64_t count() const { return end - begin; }
};
Slice slice_of(uint64_t count, uint32_t size, uint32_t rank);

/// The elements of all ranks' inputs that lie in a slice.
PerRank<const std::byte*> inputs_of(Meeting& meeting, const Slice& slice);

/// How the ranks share a reduction whose inputs are whole everywhere: by the call's algorithm each reduces a slice, one
/// of them all for the others, or each (of those that receive) all for itself.
void share_out(Meeting& meeting, void (*reduce_slice)(Meeting&, const Slice&), void (*reduce_all)(Meeting&));

/// A call as its ranks compare it.
Call call_of(const CollectiveDef& row, Element element, uint64_t count, ReduceOp op = ReduceOp::kSum,
             uint32_t root = 0);

/// Queues a collective whose ranks meet, do the body of its row, and leave.
void meet(Communicator& communicator, Lane lane, Call call, const Buffers& buffers, Parts parts = {});

/// Whether results are written past the cache: there is no room for them.
bool past_cache(const Meeting& meeting);

}  // namespace npu::comm
