// SPDX-License-Identifier: Apache-2.0
// Loops of dataflow (frames: Enter, Merge, Switch, NextIteration, Exit, LoopCond) as While nodes.
#pragma once

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Every frame of `f` becomes a While node; bodies and conditions go into `program`, named after `f`. The function has
/// edges of next iterations as the reader leaves them (kTurnsBack). Raises 161002 naming a node of a frame that is no
/// loop of one condition.
void make_loops(Function& f, Program& program);

}  // namespace npu::graph::tensorflow
