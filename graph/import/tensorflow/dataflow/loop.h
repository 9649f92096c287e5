// SPDX-License-Identifier: Apache-2.0
// Loops of dataflow (frames: Enter, Merge, Switch, NextIteration, Exit, LoopCond) as While nodes.
#pragma once

#include <vector>

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Every frame of `f` becomes a While node; bodies and conditions go into `program`, named after `f`. The function has
/// edges of next iterations as the reader leaves them (kTurnsBack). Raises 161002 naming a node of a frame that is no
/// loop of one condition, and a result that is inside of a loop.
void make_loops(Function& f, Program& program);

/// By node: whether it is inside of a frame; an Enter is, an Exit of the outermost frame is not.
std::vector<bool> in_frames(const Function& f);

}  // namespace npu::graph::tensorflow
