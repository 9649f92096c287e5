// SPDX-License-Identifier: Apache-2.0
// Graphs of TensorFlow 1 are full of nodes that are only there for order: their gradients wait for each other, in
// groups and through copies. What is left of that is the order of effects.
#pragma once

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Without frames and branches:
/// - nodes without effect whose values nobody reads go; control results, and what groups of them wait for, stay;
/// - who waited for a node without effect waits for the effects behind it. Reads of variables are none: writes wait for
///   them (order.h);
/// - values go past nodes that give what they take.
void tidy(Function& f);

}  // namespace npu::graph::tensorflow
