// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/session/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "graph/ir/control_flow.h"
#include "graph/ir/waiting.h"

namespace npu::graph::tensorflow {
namespace {

/// Whether a function only reads what its argument is a handle of, itself or in what it calls.
class Looks {
 public:
  explicit Looks(const Program& program) : program_(program) {}

  bool only_reads(const Node& node, Edge handle) {
    if (node.kind == Kind::kRead || node.op == "VarIsInitializedOp") return true;
    const auto call = as_call(node);
    if (!call) return false;
    std::vector<std::string> called = call->bodies;
    if (!call->condition.empty()) called.push_back(call->condition);
    for (size_t i = call->selector_inputs; i < node.inputs.size(); ++i)
      if (node.inputs[i] == handle)
        for (const std::string& name : called)
          if (!only_reads(name, i - call->selector_inputs)) return false;
    return true;
  }

 private:
  bool only_reads(const std::string& name, size_t argument) {
    const auto [at, fresh] = known_.try_emplace({name, argument}, true);  // a function that calls itself adds nothing
    if (!fresh) return at->second;
    const Function& f = program_.get(name);
    const Edge handle{f.arguments[argument].node, 0};
    for (const Node& node : f.nodes)
      if (std::ranges::find(node.inputs, handle) != node.inputs.end() && !only_reads(node, handle))
        return known_[{name, argument}] = false;
    return true;
  }

  const Program& program_;
  std::map<std::pair<std::string, size_t>, bool> known_;
};

struct Uses {
  std::vector<NodeId> reads, writes;
};

std::map<Edge, Uses> uses_of(const Function& f, const Program& program) {
  std::map<Edge, Uses> out;
  for (const Argument& argument : f.arguments)
    if (argument.value.type.kind == ValueKind::kResource) out[{argument.node, 0}];
  Looks looks(program);
  for (size_t i = 0; i < f.nodes.size(); ++i)
    for (const Edge& edge : std::set<Edge>(f.nodes[i].inputs.begin(), f.nodes[i].inputs.end())) {
      const auto at = out.find(edge);
      if (at == out.end()) continue;
      auto& list = looks.only_reads(f.nodes[i], edge) ? at->second.reads : at->second.writes;
      list.push_back(static_cast<NodeId>(i));
    }
  return out;
}

/// By node: its place in an order in which `late` nodes come as late as they can.
std::vector<size_t> places(const Function& f, const std::set<NodeId>& late) {
  Waiting waiting(f.nodes);
  std::vector<size_t> out(f.nodes.size());
  Ready early, last;
  const auto ready = [&](NodeId id) { (late.contains(id) ? last : early).push(id); };
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (const auto id = static_cast<NodeId>(i); waiting.is_ready(id)) ready(id);
  for (size_t place = 0; !early.empty() || !last.empty(); ++place) {
    Ready& from = early.empty() ? last : early;
    const NodeId id = from.top();
    from.pop();
    out[static_cast<size_t>(id)] = place;
    for (const NodeId user : waiting.users(id))
      if (waiting.come(user)) ready(user);
  }
  return out;
}

}  // namespace

void read_before_write(Function& f, const Program& program) {
  const std::map<Edge, Uses> uses = uses_of(f, program);
  std::set<NodeId> writers;
  for (const auto& [handle, one] : uses) writers.insert(one.writes.begin(), one.writes.end());
  const std::vector<size_t> place = places(f, writers);
  const auto at = [&](NodeId id) { return place[static_cast<size_t>(id)]; };
  for (const auto& [handle, one] : uses)
    for (const NodeId write : one.writes) {
      if (one.reads.empty()) continue;
      const std::vector<bool> needed = f.needed_for({write});
      for (const NodeId read : one.reads)
        if (at(read) < at(write) && !needed[static_cast<size_t>(read)]) f[write].after.push_back(read);
    }
}

}  // namespace npu::graph::tensorflow
