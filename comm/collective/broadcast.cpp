// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/check.h"
#include "comm/core/reduce.h"

namespace npu::comm {

void broadcast(Communicator& communicator, Lane lane, void* buffer, uint64_t count, Element element, uint32_t root) {
  check_rank(communicator, root, "root");
  check_buffer(communicator, buffer, count, element, "buf");
  const Call call{Kind::kBroadcast, element.dtype, element.bytes, ReduceOp::kSum, root, {}, count};
  const bool sends = communicator.rank() == root;
  const Buffers buffers{sends ? buffer : nullptr, sends ? call.bytes() : 0, sends ? nullptr : buffer,
                        sends ? 0 : call.bytes()};
  meet(communicator, lane, call, buffers, {}, [](Meeting& meeting) {
    const Call& asked = meeting.call();
    if (meeting.rank() != asked.root) copy(meeting.output(meeting.rank()), meeting.input(asked.root), asked.bytes());
  });
}

}  // namespace npu::comm
