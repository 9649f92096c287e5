// SPDX-License-Identifier: Apache-2.0
// A loop carries along what only its gradient would need: gradients of inputs that nobody asked for, lists that nobody
// reads. Variables of a loop that decide neither its end nor a result that is used stay as they come in, and the body
// does without what computed them.
#include <algorithm>
#include <set>

#include "graph/passes/loop/loop.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

std::set<size_t> used_outputs(const Function& f, NodeId id) {
  std::set<size_t> out;
  const auto use = [&](const Edge& edge) {
    if (edge.node == id) out.insert(static_cast<size_t>(edge.output));
  };
  for (const Node& node : f.nodes)
    if (!node.removed)
      for (const Edge& edge : node.inputs) use(edge);
  for (const Result& result : f.results) use(result.value);
  return out;
}

/// The variables of the loop that must be computed.
std::set<size_t> needed(const Function& body, const Function& condition, std::set<size_t> used) {
  used.merge(arguments_of(condition, {0}));
  for (size_t before = used.size() + 1; before != used.size();) {
    before = used.size();
    used.merge(arguments_of(body, used));
  }
  return used;
}

/// The body with results that are not among `kept` as they come in.
std::shared_ptr<Function> trimmed(const Function& body, const std::set<size_t>& kept) {
  std::string change = "without";
  for (size_t i = 0; i < body.results.size(); ++i)
    if (!kept.contains(i)) change += fmt::format("_{}", i);
  auto out = std::make_shared<Function>(body);
  out->name = variant_name(body.name, change);
  for (size_t i = 0; i < out->results.size(); ++i)
    if (!kept.contains(i)) out->results[i].value = {out->arguments[i].node, 0};
  return out;
}

bool does_nothing(const Function& body, const std::set<size_t>& kept) {
  for (size_t i = 0; i < body.results.size(); ++i)
    if (!kept.contains(i) && !(body.results[i].value == Edge{body.arguments[i].node, 0})) return false;
  return true;
}

/// What nobody reads need not come from another loop, which then may not have to compute it either: what went into
/// that loop has the same type.
void come_from_before(Function& f, NodeId loop, const std::set<size_t>& kept) {
  for (size_t i = 0; i < f[loop].inputs.size(); ++i) {
    Edge& edge = f[loop].inputs[i];
    while (!kept.contains(i)) {
      const Node& from = f[edge.node];
      const std::optional<Call> call = as_call(from);
      if (!call || call->kind != Kind::kWhile) break;
      edge = from.inputs[static_cast<size_t>(edge.output)];
    }
  }
}

}  // namespace

void trim_loops(Function& f, Program& program, FusionCount& count) {
  std::vector<NodeId> order = f.order();
  std::reverse(order.begin(), order.end());  // what a later loop does without, an earlier one need not bring
  for (const NodeId id : order) {
    const std::optional<Call> call = as_call(f[id]);
    if (!call || call->kind != Kind::kWhile) continue;
    const std::set<size_t> used = used_outputs(f, id);
    if (used.size() == f[id].outputs.size()) continue;
    const Function& body = program.get(call->bodies.front());
    const std::set<size_t> kept = needed(body, program.get(call->condition), used);
    if (does_nothing(body, kept)) continue;
    const std::shared_ptr<Function> variant = trimmed(body, kept);
    program.add(variant);
    f[id].attributes.set("body", FunctionName{variant->name});
    come_from_before(f, id, kept);
    count.take();
  }
}

}  // namespace npu::graph
