// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/check.h"

namespace npu::comm {
namespace {

Work work(const Load& load) { return load.posted ? Work{4 * load.bytes, 0, 1} : Work{0, 2 * load.bytes, 2}; }

void take_all(Meeting& meeting) {
  const Call& call = meeting.call();
  if (meeting.rank() != call.root) meeting.take({call.root, 0, call.bytes()}, meeting.output());
}

NPU_COLLECTIVE(kBroadcast, .id = 4, .name = "broadcast", .algo_word = "broadcast", .has_root = true, .work = work,
               .body = take_all);

}  // namespace

void broadcast(Communicator& communicator, Lane lane, void* buffer, uint64_t count, Element element, uint32_t root) {
  check_rank(communicator, root, "root");
  check_buffer(communicator, buffer, count, element, "buf");
  const Call call = call_of(kBroadcast, element, count, ReduceOp::kSum, root);
  const bool sends = communicator.rank() == root;
  meet(communicator, lane, call,
       {sends ? buffer : nullptr, sends ? call.bytes() : 0, sends ? nullptr : buffer, sends ? 0 : call.bytes()});
}

}  // namespace npu::comm
