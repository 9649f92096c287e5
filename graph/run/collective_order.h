// SPDX-License-Identifier: Apache-2.0
// Which collectives a function makes, as ranks compare them before it runs for the first time.
#pragma once

#include "comm/core/order.h"
#include "graph/ir/function.h"

namespace npu::graph {

/// Those of `function` and of all that it runs, each body once, by group. Messages between two ranks are not among
/// them.
comm::Announcement::ByGroup collective_order(const Function& function, const Program& program);

}  // namespace npu::graph
