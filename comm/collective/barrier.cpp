// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/check.h"

namespace npu::comm {

void barrier(Communicator& communicator, Lane lane) {
  meet(communicator, lane, {Kind::kBarrier, DType::kUndefined, 1, ReduceOp::kSum, 0, {}, 0}, {}, {}, [](Meeting&) {});
}

}  // namespace npu::comm
