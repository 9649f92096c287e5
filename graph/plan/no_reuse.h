// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "graph/plan/plan.h"

namespace npu::graph {

/// Gives the outputs of the nodes in `names` (of nodes or operators, joined by commas) memory of their own for the
/// whole run. After lifetimes are known, before slots are placed.
void keep_apart(Plan& plan, std::string_view names);
/// The same for the names in OP_NO_REUSE_MEM.
void keep_apart(Plan& plan);

}  // namespace npu::graph
