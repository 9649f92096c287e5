// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// Of each group whose gradients a function sums up, how the pass `collectives` has divided them, as the log tells it:
/// "group hccl_world_group, float32: segment index list: [0,107] [108,159]".
std::vector<std::string> segments_of(const Function& function);
/// Writes them to the log, INFO, in the lines that users are told to look for.
void log_segments(const Function& function);

}  // namespace npu::graph
