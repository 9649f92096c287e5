// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/between.h"

namespace npu::comm {
namespace {

Work work(const Load& load) {
  return load.posted ? Work{2 * load.bytes * (load.ranks + 1), 0, 1} : Work{0, 2 * load.bytes, 2};
}

void take_part(Meeting& meeting) {
  const Call& asked = meeting.call();
  if (asked.bytes() > 0) meeting.take({asked.root, meeting.rank() * asked.bytes(), asked.bytes()}, meeting.output());
}

void take_part_of_host(Meeting& meeting) {
  const Call& asked = meeting.call();
  const Hosts& hosts = *meeting.hosts();
  const uint32_t home = hosts.host_of[asked.root];
  if (asked.bytes() == 0) return;
  if (hosts.host_of[meeting.rank()] != home) {
    const uint32_t server = hosts.server(home, meeting.rank());
    meeting.expect(server, 0, meeting.output(), asked.bytes());
    return meeting.await_passed(server, 0, asked.bytes());
  }
  each_served(meeting, [&](uint32_t to) {
    meeting.pass(to, 0, sent_by(meeting, {asked.root, to * asked.bytes(), asked.bytes()}), asked.bytes());
  });
  take_part(meeting);
}

Passed passed(const LoadBetween& load) {
  const double others = load.hosts - 1;
  return {1, others, others * load.ranks * load.bytes, 2 * load.bytes};
}

NPU_COLLECTIVE(kScatter, .id = 6, .name = "scatter", .algo_word = "scatter", .has_root = true, .sends_parts = true,
               .work = work, .passed = passed, .body = take_part, .between = take_part_of_host);

}  // namespace

void scatter(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
             uint32_t root) {
  check_rank(communicator, root, "root");
  check_buffer(communicator, recv, count, element, "recvBuf");
  const bool sends = communicator.rank() == root;
  const uint64_t all = count * communicator.size();
  if (sends) check_buffer(communicator, send, all, element, "sendBuf");
  const Call call = call_of(kScatter, element, count, ReduceOp::kSum, root);
  meet(communicator, lane, call, {sends ? send : nullptr, sends ? all * element.bytes : 0, recv, call.bytes()});
}

}  // namespace npu::comm
