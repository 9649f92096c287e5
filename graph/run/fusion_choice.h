// SPDX-License-Identifier: Apache-2.0
// Whether a fused node is computed whole or in its parts: whole, unless a bank of tuned choices (ops/tuning/bank.h)
// says that the parts were measured to be faster. While graphs are tuned (the vendor's job type 1) nodes that no bank
// knows are measured as they are planned, each whole and in parts on memory of its own.
#pragma once

#include <span>
#include <string>

#include "graph/plan/plan.h"
#include "graph/run/environment.h"

namespace npu::graph {

/// True where the parts of `node`, which has some, were measured to be faster on inputs like these.
bool parts_are_faster(const Node& node, std::span<const Planned> inputs, Environment& environment);

/// What banks call such a node: its kind, the types and shapes of its inputs, and a digest of its parts that names of
/// nodes do not change.
std::string fusion_key(const Node& node, std::span<const Planned> inputs);

}  // namespace npu::graph
