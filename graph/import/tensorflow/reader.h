// SPDX-License-Identifier: Apache-2.0
// TensorFlow's FunctionDef and GraphDef as functions of ours: bytes in, no TensorFlow code.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "graph/import/tensorflow/catalogue.h"
#include "graph/import/tensorflow/graph_message.h"
#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Of a Merge: the NextIteration node whose value it takes from the second turn on. Its inputs are the others, so that
/// functions have no circles.
inline constexpr std::string_view kTurnsBack = "_turns_back";

/// Reads one FunctionDef. Functions it calls by operator name must be in `program` already or come in the same call of
/// read_functions. Raises 100006 on damaged bytes, 161002 naming the node on a graph that does not hold together.
std::shared_ptr<Function> read_function(Bytes function_def, const Catalogue& catalogue, const Program& program = {});

/// A function `name` of one node, given as a NodeDef without inputs: it takes and gives what the node takes and gives.
std::shared_ptr<Function> read_operator(Bytes node_def, std::string_view name, std::span<const ValueType> inputs,
                                        const Catalogue& catalogue);

/// Reads a GraphDef: its library into `program`, its nodes as the function `name` without arguments and results (what
/// is fed and fetched is decided by the caller). All nodes are kept.
std::shared_ptr<Function> read_graph(Bytes graph_def, std::string_view name, const Catalogue& catalogue,
                                     Program& program);

/// A node that the caller gives a value instead: an argument of the function.
struct Fed {
  std::string node;
  Output value;
};
/// The same of parts of a graph; `fed` nodes become its arguments, in this order.
std::shared_ptr<Function> read_graph(const Reached& parts, std::span<const Fed> fed, std::string_view name,
                                     const Catalogue& catalogue, Program& program);

}  // namespace npu::graph::tensorflow
