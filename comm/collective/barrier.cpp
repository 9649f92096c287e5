// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/between.h"

namespace npu::comm {
namespace {

// All of this host have come: that is what it tells.
void tell_hosts(Meeting& meeting) {
  each_server(meeting, [&](uint32_t rank) { meeting.expect(rank, 0, nullptr, 0); });
  each_served(meeting, [&](uint32_t rank) { meeting.pass(rank, 0, nullptr, 0); });
  each_server(meeting, [&](uint32_t rank) { meeting.await_passed(rank, 0, 0); });
}

NPU_COLLECTIVE(kBarrier, .id = 12, .name = "barrier", .moves = false, .between = tell_hosts);

}  // namespace

void barrier(Communicator& communicator, Lane lane) {
  meet(communicator, lane, call_of(kBarrier, {DType::kUndefined, 1}, 0), {});
}

}  // namespace npu::comm
