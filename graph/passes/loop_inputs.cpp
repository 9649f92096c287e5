// SPDX-License-Identifier: Apache-2.0
// A recurrent layer multiplies one element of its input a turn with weights that stay. One product over many elements
// is faster than many small ones: the body takes its product from those that were computed ahead.
#include "graph/node/loop.h"
#include "graph/passes/loop.h"

namespace npu::graph {
namespace {

/// Why the product stays in the turn, or nothing.
std::string refusal(const LoopChange& loop, const Function& body, const Node& product) {
  const Node& element = body[product.inputs[0].node];
  if (!is_floating(product.outputs.front().type.dtype)) return "it is of integers";
  if (product.attributes.get_or<bool>("transpose_a", false)) return "the element is turned";
  if (!loop.same_in_all_turns(element.inputs[0])) return "the list changes from turn to turn";
  return loop.same_in_all_turns(product.inputs[1]) ? "" : "the matrix changes from turn to turn";
}

/// The product as one node, which knows where its element comes from and where products are kept.
void take_from_ahead(LoopChange& loop, NodeId id) {
  const Edge kept = loop.add_object(kind::kKeptProducts);
  Function& body = loop.body();
  Node& node = body[id];
  const Node& element = body[node.inputs[0].node];
  auto parts = std::make_shared<Function>(node.name);
  Node product = node;
  node.inputs.insert(node.inputs.end(), {element.inputs[0], element.inputs[1], kept});
  for (const Edge& edge : node.inputs) parts->add_argument(body[edge.node].name, body.output(edge));
  for (size_t i = 0; i < product.inputs.size(); ++i) product.inputs[i] = {parts->arguments[i].node, 0};
  product.after.clear();
  parts->results.push_back({node.name, {parts->add(std::move(product)), 0}});
  node.op = kind::kItemProduct;
  node.parts = std::move(parts);
}

}  // namespace

void take_inputs_out_of_loops(Function& f, Program& program, FusionCount& count) {
  for (const NodeId id : loops_of(f)) {
    LoopChange loop(f, program, id);
    std::string change = "ahead";
    for (const NodeId product : loop.body().order()) {
      const Function& body = loop.body();
      if (body[product].op != "MatMul" || body[body[product].inputs[0].node].op != "TensorListGetItem") continue;
      if (const std::string reason = refusal(loop, body, body[product]); !reason.empty()) {
        count.decline(reason);
        continue;
      }
      take_from_ahead(loop, product);
      change += fmt::format("_{}", product);
      count.take();
    }
    if (change != "ahead") loop.put(change);
  }
}

}  // namespace npu::graph
