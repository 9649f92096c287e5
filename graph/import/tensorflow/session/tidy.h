// SPDX-License-Identifier: Apache-2.0
// Graphs of TensorFlow 1 are full of nodes that are only there for order: their gradients wait for each other, in
// groups and through copies. What is left of that is the order of effects.
#pragma once

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Without frames and branches:
/// - nodes without effect whose values nobody reads go; control results, and what groups of them wait for, stay;
/// - what has an effect, or reads, waits for the effects behind all that it stands on and waited for; nothing else
/// waits.
///   Reads of variables are no effects: writes wait for them (order.h). All effects are control results;
/// - values go past nodes that give what they take.
void tidy(Function& f);

}  // namespace npu::graph::tensorflow
