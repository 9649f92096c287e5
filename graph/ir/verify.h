// SPDX-License-Identifier: Apache-2.0
// What must hold in every function at every stage. The pass runner asks after each pass, importers after reading.
#pragma once

#include "graph/ir/function.h"

namespace npu::graph {

/// Raises 161002 naming function and node: edges lead to outputs that exist, nothing uses a removed node, nothing
/// depends on itself, arguments stand for argument nodes, and every function a node calls exists and takes and gives
/// what the node gives and takes (control_flow.h; bodies of other operators need only exist).
void verify(const Function& function, const Program& program);
void verify(const Program& program);

}  // namespace npu::graph
