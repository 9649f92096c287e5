// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/plan/plan.h"

namespace npu::graph {

/// The slot whose memory `id` lives in.
inline SlotId root_of(const Plan& plan, SlotId id) {
  while (plan.slots[static_cast<size_t>(id)].shares >= 0) id = plan.slots[static_cast<size_t>(id)].shares;
  return id;
}

}  // namespace npu::graph
