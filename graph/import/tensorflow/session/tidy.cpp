// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/session/tidy.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/import/tensorflow/dataflow/closure.h"

namespace npu::graph::tensorflow {
namespace {

/// Arguments, results, and the nodes that the program names to run, also in groups.
std::vector<NodeId> asked_for(const Function& f) {
  std::vector<NodeId> out = f.control_results;
  for (size_t i = 0; i < out.size(); ++i)
    if (const Node& node = f[out[i]]; node.outputs.empty() && !node.stateful)
      for (const NodeId one : node.after)
        if (std::ranges::find(out, one) == out.end()) out.push_back(one);
  for (const Result& result : f.results) out.push_back(result.value.node);
  for (const Argument& argument : f.arguments) out.push_back(argument.node);
  return out;
}

/// By node: whether a value of it goes into one of these nodes, directly or not.
std::vector<bool> read_for(const Function& f, std::vector<NodeId> open) {
  std::vector<bool> out(f.nodes.size());
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (out[static_cast<size_t>(id)]) continue;
    out[static_cast<size_t>(id)] = true;
    for (const Edge& edge : f[id].inputs) open.push_back(edge.node);
  }
  return out;
}

bool has_effect(const Node& node) { return node.stateful && node.kind != Kind::kRead; }

/// The nodes with an effect that each node stands on, as far as none of them stands on another.
class Effects {
 public:
  explicit Effects(const Function& f) : behind_(f.nodes.size()) {
    for (const NodeId id : f.order()) {
      std::set<NodeId>& own = behind_[static_cast<size_t>(id)];
      const auto add = [&](NodeId before) {
        if (has_effect(f[before]))
          own.insert(before);
        else
          own.insert(of(before).begin(), of(before).end());
      };
      for (const Edge& edge : f[id].inputs) add(edge.node);
      for (const NodeId before : f[id].after) add(before);
    }
  }
  const std::set<NodeId>& of(NodeId id) const { return behind_[static_cast<size_t>(id)]; }

 private:
  std::vector<std::set<NodeId>> behind_;
};

/// Nodes without effect wait for nothing; what reads or has an effect waits for the effects behind it that its inputs
/// do not stand on anyway.
void wait_for_effects(Function& f) {
  const Effects effects(f);
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    Node& node = f.nodes[i];
    std::set<NodeId> after;
    if (node.stateful) {
      after = effects.of(static_cast<NodeId>(i));
      after.insert(node.after.begin(), node.after.end());  // the time may be asked for
      if (!after.empty()) {
        const std::vector<bool> into = read_for(f, {static_cast<NodeId>(i)});
        std::erase_if(after, [&](NodeId before) { return into[static_cast<size_t>(before)]; });
      }
      if (has_effect(node)) f.control_results.push_back(static_cast<NodeId>(i));
    }
    if (node.stateful || !node.outputs.empty()) node.after.assign(after.begin(), after.end());
  }
  sort_control_results(f);
}

bool gives_what_it_takes(const Node& node) {
  const bool copies = node.kind == Kind::kIdentity || node.op == "StopGradient" || node.op == "PreventGradient";
  return copies && node.inputs.size() == 1 && node.after.empty();
}

void pass_copies(Function& f) {
  std::map<Edge, Edge> source;
  for (const NodeId id : f.order()) {
    for (Edge& edge : f[id].inputs)
      if (const auto at = source.find(edge); at != source.end()) edge = at->second;
    if (gives_what_it_takes(f[id])) source[{id, 0}] = f[id].inputs.front();
  }
  for (Result& result : f.results)
    if (const auto at = source.find(result.value); at != source.end()) result.value = at->second;
}

void drop_waited_for(Function& f) {
  std::vector<NodeId> wanted = asked_for(f);
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (f.nodes[i].stateful) wanted.push_back(static_cast<NodeId>(i));
  const std::vector<bool> read = read_for(f, std::move(wanted));
  const std::vector<NodeId> order = f.order();
  bool changed = false;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    if (read[static_cast<size_t>(*at)]) continue;
    f.remove(*at);
    changed = true;
  }
  if (changed) f.compact();
}

}  // namespace

void tidy(Function& f) {
  wait_for_effects(f);
  pass_copies(f);
  drop_waited_for(f);
}

}  // namespace npu::graph::tensorflow
