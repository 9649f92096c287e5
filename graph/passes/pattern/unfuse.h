// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/ir/function.h"

namespace npu::graph {

/// `f` with the parts of fused nodes in their places: of `only`, or of all where that is -1. Nodes stand in the order
/// in which they run.
Function unfused(const Function& f, NodeId only = -1);

}  // namespace npu::graph
