// SPDX-License-Identifier: Apache-2.0
// Functions in the text forms that tools read: TensorFlow's GraphDef, the vendor's ModelDef and its ONNX-like twin. All
// are protobuf's text format; a test parses each with messages of the real field names.
#pragma once

#include <string>
#include <string_view>

#include "graph/ir/attribute.h"
#include "graph/ir/function.h"

namespace npu::graph {

/// How much is written: the vendor's DUMP_GE_GRAPH.
enum class Content : int { kAll = 1, kNoWeights = 2, kStructure = 3 };

/// TensorFlow's GraphDef: arguments are _Arg nodes, results _Retval nodes. All there is, weights included.
std::string to_graph_def(const Function& function);
/// The vendor's ModelDef: `function`, then the functions of `program` that its nodes run. Operators have the vendor's
/// names (ir/ops.tsv), attributes those of the client. kNoWeights leaves out the elements of constants,
/// kStructure everything but names, operators and edges.
std::string to_ge_text(const Function& function, const Program& program, Content content);
/// The same function as the ModelProto that model viewers show.
std::string to_onnx_text(const Function& function, Content content);

/// A type as TensorFlow and the vendor name it (DT_HALF, DT_FLOAT16) and as ONNX counts it (10).
std::string_view tensorflow_type(const ValueType& type);
std::string_view ge_type(const ValueType& type);
int onnx_type(const ValueType& type);

/// The elements as bytes; empty for strings.
std::string_view bytes_of(const Literal& literal);
/// The vendor's name of a node's operator.
std::string_view ir_type_of(const Node& node);

}  // namespace npu::graph
