// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/check.h"
#include "comm/core/reduce.h"

namespace npu::comm {

void scatter(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
             uint32_t root) {
  check_rank(communicator, root, "root");
  check_buffer(communicator, recv, count, element, "recvBuf");
  const bool sends = communicator.rank() == root;
  const uint64_t all = count * communicator.size();
  if (sends) check_buffer(communicator, send, all, element, "sendBuf");
  const Call call{Kind::kScatter, element.dtype, element.bytes, ReduceOp::kSum, root, {}, count};
  meet(communicator, lane, call, {sends ? send : nullptr, sends ? all * element.bytes : 0, recv, call.bytes()}, {},
       [](Meeting& meeting) {
         const Call& asked = meeting.call();
         if (asked.bytes() > 0)
           copy(meeting.output(meeting.rank()), meeting.input(asked.root) + meeting.rank() * asked.bytes(),
                asked.bytes());
       });
}

}  // namespace npu::comm
