// SPDX-License-Identifier: Apache-2.0
// Branches of dataflow (Switch, Merge) as If nodes.
#pragma once

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// What stands behind a Switch goes into the branches of If nodes; they go into `program`, named after `f`. Frames are
/// While nodes already. Raises 161002 naming a Merge whose inputs do not come from the two sides of one condition.
void make_branches(Function& f, Program& program);

}  // namespace npu::graph::tensorflow
