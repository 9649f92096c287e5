// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// `f` with the parts of fused nodes in their places: of `only`, or of all where that names none. Nodes stand in the
/// order in which they run.
Function unfused(const Function& f, const std::vector<NodeId>& only = {});

}  // namespace npu::graph
