// SPDX-License-Identifier: Apache-2.0
// What nodes about numbers do with optionals, which gradients of branches in branches bring.
#pragma once

#include "graph/plan/lowering.h"

namespace npu::graph {

/// Serves the node when its first input is an optional of ours; false when it is not.
bool lower_zeros_of_optional(Lowering& l);
bool lower_sum_of_optionals(Lowering& l);

}  // namespace npu::graph
