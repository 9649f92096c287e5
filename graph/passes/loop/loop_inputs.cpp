// SPDX-License-Identifier: Apache-2.0
// A recurrent layer multiplies one element of its input a turn with weights that stay. One product over many elements
// is faster than many small ones: the body takes its product from those that were computed ahead, with the bias. The
// product with the state is added to it in place.
#include <algorithm>

#include "graph/passes/loop/loop.h"
#include "graph/passes/pipeline.h"

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

/// A product, and what is added to it before anything else sees it.
struct Ahead {
  NodeId product;
  NodeId bias = -1;    ///< a kBias of what stays
  NodeId second = -1;  ///< the product of the turn
  std::vector<NodeId> all;

  Edge result() const { return {all.back(), 0}; }
};

/// The node that alone uses `edge`, once, or -1.
NodeId only_user(const LoopChange& loop, const Function& body, Edge edge) {
  if (loop.uses(edge) != 1) return -1;
  for (size_t i = 0; i < body.nodes.size(); ++i)
    if (!body.nodes[i].removed && std::ranges::count(body.nodes[i].inputs, edge) > 0) return static_cast<NodeId>(i);
  return -1;
}

/// The product of the turn that `node` adds to `edge`, or -1.
NodeId added_product(const LoopChange& loop, const Function& body, const Node& node, Edge edge) {
  if (node.kind != Kind::kAdd) return -1;
  const Edge other = node.inputs[node.inputs[0] == edge ? 1 : 0];
  const Node& product = body[other.node];
  const bool fits = product.kind == Kind::kProduct && !product.attributes.get_or<bool>("transpose_a", false) &&
                    loop.uses(other) == 1 && body[product.inputs[0].node].kind != Kind::kListItem;
  return fits ? other.node : -1;
}

Ahead with_additions(const LoopChange& loop, const Function& body, NodeId product) {
  Ahead out{product, -1, -1, {product}};
  while (true) {
    const NodeId id = only_user(loop, body, out.result());
    if (id < 0) return out;
    const Node& node = body[id];
    const NodeId second = added_product(loop, body, node, out.result());
    if (node.kind == Kind::kBias && out.bias < 0 && node.inputs[0] == out.result() &&
        loop.same_in_all_turns(node.inputs[1]))
      out.bias = id;
    else if (second >= 0 && out.second < 0)
      out.all.push_back(out.second = second);
    else
      return out;
    out.all.push_back(id);
  }
}

/// Copies of the nodes as a function whose arguments are `inputs`.
std::shared_ptr<const Function> parts_of(const Function& body, const Ahead& ahead, const std::vector<Edge>& inputs) {
  auto parts = std::make_shared<Function>(body[ahead.all.back()].name, *body.dialect);
  std::map<Edge, Edge> edges;
  for (const Edge& edge : inputs) {
    const Edge argument{parts->add_argument(body[edge.node].name, body.output(edge)), 0};
    edges.emplace(edge, argument);
  }
  for (const NodeId id : ahead.all) {
    Node copy = body[id];
    copy.after.clear();
    for (Edge& edge : copy.inputs) edge = edges.at(edge);
    edges[{id, 0}] = {parts->add(std::move(copy)), 0};
  }
  parts->results.push_back({body[ahead.all.back()].name, edges.at(ahead.result())});
  return parts;
}

/// The product with what is added to it as one node, which knows where its element comes from and where products are
/// kept.
void take_from_ahead(LoopChange& loop, const Ahead& ahead) {
  const Edge kept = loop.add_object(Kind::kKeptProducts);
  Function& body = loop.body();
  const Node &product = body[ahead.product], &last = body[ahead.all.back()], &element = body[product.inputs[0].node];
  Node node;
  node.name = last.name, node.kind = Kind::kItemProduct, node.outputs = last.outputs;
  node.stand_for(last);
  node.inputs = {product.inputs[0], product.inputs[1], element.inputs[0], element.inputs[1], kept};
  node.attributes.set("turned", product.attributes.get_or<bool>("transpose_b", false));
  node.attributes.set("bias", ahead.bias >= 0);
  if (ahead.bias >= 0) node.inputs.push_back(body[ahead.bias].inputs[1]);
  if (ahead.second >= 0) {
    const Node& second = body[ahead.second];
    node.inputs.insert(node.inputs.end(), second.inputs.begin(), second.inputs.end());
    node.attributes.set("second_turned", second.attributes.get_or<bool>("transpose_b", false));
  }
  for (const NodeId id : ahead.all) node.after.insert(node.after.end(), body[id].after.begin(), body[id].after.end());
  node.parts = parts_of(body, ahead, node.inputs);
  const NodeId id = body.add(std::move(node));
  body.replace(ahead.result(), {id, 0});
}

}  // namespace

void take_inputs_out_of_loops(Function& f, Program& program, FusionCount& count) {
  for (const NodeId id : loops_of(f)) {
    LoopChange loop(f, program, id);
    std::string change = "ahead";
    for (const NodeId product : loop.body().order()) {
      const Function& body = loop.body();
      if (body[product].kind != Kind::kProduct || body[body[product].inputs[0].node].kind != Kind::kListItem) continue;
      if (const std::string reason = refusal(loop, body, body[product]); !reason.empty()) {
        count.decline(reason);
        continue;
      }
      take_from_ahead(loop, with_additions(loop, body, product));
      change += fmt::format("_{}", product);
      count.take();
    }
    if (change != "ahead") loop.put(change);
  }
}

}  // namespace npu::graph
