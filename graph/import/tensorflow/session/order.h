// SPDX-License-Identifier: Apache-2.0
// The order in which a run of a session does things where its graph leaves it open, and what is only there for order.
// TensorFlow's own sessions race between reads and writes of variables; here a read that depends on no write sees what
// was there before the run.
#pragma once

#include <vector>

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Writes of these variables wait for the reads that do not depend on them. There are no frames and branches any more.
void read_before_write(Function& f, const Program& program, const std::vector<Edge>& variables);

/// Drops nodes without effect whose values nobody reads, but that others wait for: the gradients of a graph wait for
/// each other, also for those of its input. Control results, and what groups of them wait for, stay. Whoever waited for
/// one waits for what it waited for.
void drop_waited_for(Function& f);

}  // namespace npu::graph::tensorflow
