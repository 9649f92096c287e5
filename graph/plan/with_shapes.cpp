// SPDX-License-Identifier: Apache-2.0
// The function behind a plan, as the last stage of a dump shows it.
#include "graph/passes/pipeline.h"
#include "graph/plan/planner.h"

namespace npu::graph {
namespace {

void make_constant(Function& f, NodeId id, const Literal& literal) {
  Node& node = f[id];
  node.kind = Kind::kConstant, node.op = f.dialect->spelling(Kind::kConstant);
  node.inputs.clear();
  node.functions.clear();
  node.attributes = {};
  node.attributes.set("dtype", literal.type);
  node.attributes.set("value", literal);
}

bool was_folded(const Node& node, const Planned& planned) {
  return planned.literal && !node.stateful && node.kind != Kind::kConstant && node.kind != Kind::kArgument &&
         node.outputs.size() == 1;
}

}  // namespace

Function Planner::with_shapes() const {
  Function out = *builder_.function;
  for (const auto& [edge, planned] : builder_.values) {
    Output& output = out[edge.node].outputs[static_cast<size_t>(edge.output)];
    output.type = planned.type;
    if (!is_object(planned.type) && !planned.dynamic) output.shape = PartialShape{planned.shape()};
    if (was_folded(out[edge.node], planned)) make_constant(out, edge.node, *planned.literal);
  }
  for (Argument& argument : out.arguments) argument.value = out[argument.node].outputs.front();
  drop_dead_nodes(out, {});
  return out;
}

}  // namespace npu::graph
