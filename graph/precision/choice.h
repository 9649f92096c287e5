// SPDX-License-Identifier: Apache-2.0
// In which dtype each node of a function is to compute, and why. For a node the first of these decides: what the
// environment keeps (graph/run/switched_off.h), a line of customize_dtypes that names it, one that names its operator,
// keep_dtype_scope, op_precision_mode, the mode with its lists.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/function.h"
#include "graph/precision/precision.h"

namespace npu::graph {

struct Choice {
  const OperatorPrecision* op = nullptr;  ///< null: nothing is known of a choice
  DType source = DType::kUndefined;       ///< what the graph says: float32, float16 or bfloat16; else kUndefined
  DType compute = DType::kUndefined;      ///< what the node computes in
  std::vector<DType> inputs, outputs;     ///< rounded to these on the way in and out; kUndefined: as computed
  std::string why;
};

/// What the node's choice is about: inputs and outputs of its own dtype.
bool governs_input(const Choice& choice, const Function& f, const Node& node, size_t input);
bool governs_output(const Choice& choice, const Node& node, size_t output);

/// A choice for each node, in their order. Raises a NodeError (161002) where customize_dtypes asks for what the node
/// cannot do.
std::vector<Choice> choose(const Function& f, const Precision& precision);

}  // namespace npu::graph
