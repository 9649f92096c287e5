// SPDX-License-Identifier: Apache-2.0
// The gradient of weights that a loop uses is a sum over its turns: each multiplies what it has of the two sides and
// adds the product to a variable of the loop. The operands are put by instead, and added up many at once.
#include <algorithm>

#include "graph/passes/loop/loop.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

bool adds(const Node& node) { return node.kind == Kind::kAddList || node.kind == Kind::kAdd; }

/// The form of a term that can be put by, or -1.
int64_t form_of(const Node& node) {
  if (node.kind == Kind::kBiasGrad)
    return node.attributes.get_or<std::string>("data_format", "NHWC") == "NHWC" ? kAddedRows : -1;
  if (node.kind != Kind::kProduct) return -1;
  return (node.attributes.get_or<bool>("transpose_a", false) ? kTurnedLeft : 0) +
         (node.attributes.get_or<bool>("transpose_b", false) ? kTurnedRight : 0);
}

/// A variable of the loop to which each turn adds.
struct Sum {
  NodeId add;
  Edge variable;              ///< its argument in the body
  std::vector<NodeId> terms;  ///< what is added
};

/// Nothing where the variable is no such sum; with a reason where it is one that has to stay.
std::optional<Sum> sum_at(const LoopChange& loop, const Function& body, size_t variable, std::string& reason) {
  const Edge next = body.results[variable].value, now{body.arguments[variable].node, 0};
  Sum sum{next.node, now, {}};
  const Node& add = body[next.node];
  if (!adds(add) || !is_floating(add.outputs.front().type.dtype)) return std::nullopt;
  if (std::count(add.inputs.begin(), add.inputs.end(), now) != 1) return std::nullopt;
  bool products = false;
  for (const Edge& edge : add.inputs) {
    if (edge == now) continue;
    sum.terms.push_back(edge.node);
    const bool fits = form_of(body[edge.node]) >= 0;
    products |= fits;
    if (!fits) reason = "something else is added too";
    if (fits && loop.uses(edge) > 1) reason = "a product is used elsewhere";
  }
  if (!products) return std::nullopt;
  if (loop.uses(next) > 1 || loop.uses(now) > 1) reason = "the sum is used in the turn";
  if (arguments_of(loop.condition(), {0}).contains(variable)) reason = "the sum decides about the loop's end";
  return sum;
}

/// A copy of the nodes as a function whose arguments are `inputs`.
std::shared_ptr<const Function> parts_of(const Function& body, const Sum& sum, const std::vector<Edge>& inputs) {
  auto parts = std::make_shared<Function>(body[sum.add].name, *body.dialect);
  std::map<Edge, Edge> edges;
  for (const Edge& edge : inputs) {
    const Edge argument{parts->add_argument(body[edge.node].name, body.output(edge)), 0};
    edges.emplace(edge, argument);
  }
  const auto put = [&](NodeId id) {
    Node copy = body[id];
    copy.after.clear();
    for (Edge& edge : copy.inputs) edge = edges.at(edge);
    edges[{id, 0}] = {parts->add(std::move(copy)), 0};
  };
  for (const NodeId term : sum.terms) put(term);
  put(sum.add);
  parts->results.push_back({"sum", edges.at({sum.add, 0})});
  parts->results.push_back({"waiting", edges.at(inputs[1])});
  return parts;
}

/// Gives the variable that holds what was put by.
Edge put_by(LoopChange& loop, const Sum& sum) {
  const Edge waiting = loop.add_object(Kind::kLoopSumStart);
  Function& body = loop.body();
  Node node;
  node.name = body[sum.add].name, node.kind = Kind::kLoopSum;
  node.stand_for(body[sum.add]);
  node.inputs = {sum.variable, waiting};
  std::vector<int64_t> forms;
  for (const NodeId term : sum.terms) {
    forms.push_back(form_of(body[term]));
    node.inputs.insert(node.inputs.end(), body[term].inputs.begin(), body[term].inputs.end());
    node.after.insert(node.after.end(), body[term].after.begin(), body[term].after.end());
  }
  node.after.insert(node.after.end(), body[sum.add].after.begin(), body[sum.add].after.end());
  node.attributes.set("terms", std::move(forms));
  node.parts = parts_of(body, sum, node.inputs);
  node.outputs = {body[sum.add].outputs.front(), body.output(waiting)};
  const NodeId id = body.add(std::move(node));
  body.replace({sum.add, 0}, {id, 0});
  loop.set_next(waiting, {id, 1});
  return waiting;
}

/// After the loop, what was put by joins the sum.
void settle(Function& f, NodeId loop, size_t variable, size_t waiting) {
  const Edge from{loop, static_cast<int32_t>(variable)};
  Node node;
  node.name = f[loop].name + "/sum", node.kind = Kind::kLoopSumEnd;
  node.stand_for(f[loop]);
  node.outputs = {f.output(from)};
  const Edge sum{f.add(std::move(node)), 0};
  f.replace(from, sum);
  f[sum.node].inputs = {from, {loop, static_cast<int32_t>(waiting)}};
}

}  // namespace

void take_sums_out_of_loops(Function& f, Program& program, FusionCount& count) {
  for (const NodeId id : loops_of(f)) {
    LoopChange loop(f, program, id);
    std::vector<std::pair<size_t, size_t>> taken;  // variables: the sum, and what was put by
    std::string change = "sums";
    for (size_t i = 0, all = loop.body().results.size(); i < all; ++i) {
      std::string reason;
      const std::optional<Sum> sum = sum_at(loop, loop.body(), i, reason);
      if (!sum) continue;
      if (!reason.empty()) {
        count.decline(reason);
        continue;
      }
      taken.emplace_back(i, static_cast<size_t>(loop.variable_at(put_by(loop, *sum))));
      change += fmt::format("_{}", i);
      count.take();
    }
    if (taken.empty()) continue;
    loop.put(change);
    for (const auto& [variable, waiting] : taken) settle(f, id, variable, waiting);
  }
}

}  // namespace npu::graph
