// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/ir/control_flow.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

/// Copies a called function's nodes into the caller.
class Inliner {
 public:
  Inliner(Function& caller, NodeId call, const Function& callee) : f_(caller), call_(call), callee_(callee) {}

  void run() {
    for (const NodeId id : callee_.order()) copy(id);
    for (size_t i = 0; i < callee_.results.size(); ++i)
      f_.replace({call_, static_cast<int32_t>(i)}, mapped(callee_.results[i].value));
    let_waiters_wait();
    f_.remove(call_);
  }

 private:
  Edge mapped(Edge edge) const { return map_.at(edge); }

  void copy(NodeId id) {
    const Node& from = callee_[id];
    if (from.kind == Kind::kArgument) {
      map_[{id, 0}] = f_[call_].inputs[static_cast<size_t>(from.attributes.get<int64_t>("index"))];
      return;
    }
    Node node = from;
    node.name = f_[call_].name + "/" + from.name;
    node.functions.insert(node.functions.begin(), callee_.name);
    node.functions.insert(node.functions.begin(), f_[call_].functions.begin(), f_[call_].functions.end());
    node.calls = f_[call_].calls + f_[call_].client_name + "/" + from.calls;
    for (Edge& edge : node.inputs) edge = mapped(edge);
    node.after.clear();
    for (const NodeId before : from.after)
      if (const auto at = nodes_.find(before); at != nodes_.end()) node.after.push_back(at->second);
    // What the call waited for, its stateful nodes wait for; the others cannot tell.
    if (node.stateful) node.after.insert(node.after.end(), f_[call_].after.begin(), f_[call_].after.end());
    const size_t outputs = node.outputs.size();
    const NodeId added = f_.add(std::move(node));
    nodes_[id] = added;
    for (size_t i = 0; i < outputs; ++i) map_[{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
  }

  /// Whoever waited for the call now waits for all that the function must do.
  void let_waiters_wait() {
    std::vector<NodeId> done;
    for (const NodeId id : callee_.control_results)
      if (const auto at = nodes_.find(id); at != nodes_.end()) done.push_back(at->second);
    // The call was live, so is what it does without giving a value.
    for (const NodeId id : done)
      if (std::find(f_.control_results.begin(), f_.control_results.end(), id) == f_.control_results.end())
        f_.control_results.push_back(id);
    for (const Result& result : callee_.results) {
      const NodeId node = mapped(result.value).node;
      if (std::find(done.begin(), done.end(), node) == done.end()) done.push_back(node);
    }
    for (Node& node : f_.nodes) {
      const auto at = std::find(node.after.begin(), node.after.end(), call_);
      if (node.removed || at == node.after.end()) continue;
      node.after.erase(at);
      for (const NodeId id : done)
        if (std::find(node.after.begin(), node.after.end(), id) == node.after.end()) node.after.push_back(id);
    }
  }

  Function& f_;
  NodeId call_;
  const Function& callee_;
  std::map<NodeId, NodeId> nodes_;
  std::map<Edge, Edge> map_;
};

/// Null when the node is no plain call, or one that would bring a function into itself.
const Function* inlined_by(const Function& caller, const Node& node, const Program& program) {
  if (node.removed) return nullptr;
  const std::optional<Call> call = as_call(node);
  if (!call || call->kind != Kind::kCall) return nullptr;
  const std::string& name = call->bodies.front();
  const bool recursive =
      name == caller.name || std::find(node.functions.begin(), node.functions.end(), name) != node.functions.end();
  return recursive ? nullptr : &program.get(name);
}

}  // namespace

bool inline_calls(Function& f, const Program& program) {
  bool changed = false;
  // The nodes a call brings in stand behind it in the list, so calls inside them are met later.
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    const Function* callee = inlined_by(f, f.nodes[i], program);
    if (callee == nullptr) continue;
    Inliner(f, static_cast<NodeId>(i), *callee).run();
    changed = true;
  }
  f.compact();
  return changed;
}

}  // namespace npu::graph
