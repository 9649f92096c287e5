// SPDX-License-Identifier: Apache-2.0
// Operators of models that failed in a stream, for clients that were told the number of the task.
#pragma once

#include "graph/ir/function.h"
#include "graph/ir/node_error.h"

namespace npu::acl {

/// Keeps which node of `model` failed, where this thread runs a task of a stream; the last failures only.
void note_failure(const graph::Function& model, const graph::NodeError& error);

}  // namespace npu::acl
