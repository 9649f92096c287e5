// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/check.h"

namespace npu::comm {
namespace {

NPU_COLLECTIVE(kBarrier, .id = 12, .name = "barrier", .moves = false);

}  // namespace

void barrier(Communicator& communicator, Lane lane) {
  meet(communicator, lane, call_of(kBarrier, {DType::kUndefined, 1}, 0), {});
}

}  // namespace npu::comm
