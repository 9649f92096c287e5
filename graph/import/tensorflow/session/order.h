// SPDX-License-Identifier: Apache-2.0
// The order in which a run of a session reads and writes variables where its graph leaves it open. TensorFlow's own
// sessions race there; here a read that depends on no write sees what was there before the run.
#pragma once

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Writes of variables that are arguments wait for the reads that do not depend on them. There are no frames and
/// branches any more.
void read_before_write(Function& f, const Program& program);

}  // namespace npu::graph::tensorflow
