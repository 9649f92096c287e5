// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/loop/loop.h"

#include <algorithm>

#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

/// Readers of nodes that hand on what they get read that itself. A node that also waits for others stays.
void bypass_identities(Function& f) {
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    const Node& node = f.nodes[i];
    if (!node.removed && node.kind == Kind::kIdentity && node.after.empty())
      f.replace({static_cast<NodeId>(i), 0}, node.inputs[0]);
  }
}

Output an_object() { return {ValueType::variant(), {}}; }

}  // namespace

std::vector<NodeId> loops_of(const Function& f) {
  std::vector<NodeId> out;
  for (const NodeId id : f.order())
    if (const std::optional<Call> call = as_call(f[id]); call && call->kind == Kind::kWhile) out.push_back(id);
  return out;
}

std::set<size_t> arguments_of(const Function& f, const std::set<size_t>& results) {
  std::vector<NodeId> wanted = f.control_results;
  for (const size_t i : results) wanted.push_back(f.results[i].value.node);
  const std::vector<bool> needed = f.needed_for(wanted);
  std::set<size_t> out;
  for (size_t i = 0; i < f.arguments.size(); ++i)
    if (needed[static_cast<size_t>(f.arguments[i].node)]) out.insert(i);
  return out;
}

LoopChange::LoopChange(Function& f, Program& program, NodeId loop)
    : f_(f),
      program_(program),
      loop_(loop),
      call_(*as_call(f[loop])),
      body_(std::make_shared<Function>(program.get(call_.bodies.front()))),
      condition_(std::make_shared<Function>(program.get(call_.condition))) {
  inline_calls(*body_, program);
  bypass_identities(*body_);
  drop_dead_nodes(*body_, program);
}

int64_t LoopChange::variable_at(Edge edge) const {
  for (size_t i = 0; i < body_->arguments.size(); ++i)
    if (edge == Edge{body_->arguments[i].node, 0}) return static_cast<int64_t>(i);
  return -1;
}

bool LoopChange::stays(size_t variable) const {
  return body_->results[variable].value == Edge{body_->arguments[variable].node, 0};
}

bool LoopChange::same_in_all_turns(Edge edge) const {
  const Node& node = (*body_)[edge.node];
  if (node.kind == Kind::kConstant) return true;
  if (node.kind == Kind::kRead) edge = node.inputs.front();
  const int64_t variable = variable_at(edge);
  return variable >= 0 && stays(static_cast<size_t>(variable));
}

size_t LoopChange::uses(Edge edge) const {
  size_t out = 0;
  for (const Node& node : body_->nodes)
    if (!node.removed) out += static_cast<size_t>(std::count(node.inputs.begin(), node.inputs.end(), edge));
  for (const Result& result : body_->results) out += result.value == edge ? 1 : 0;
  return out;
}

Edge LoopChange::add_object(Kind start) {
  objects_.push_back(start);
  const std::string name = fmt::format("{}_{}", f_.dialect->spelling(start), objects_.size());
  condition_->add_argument(name, an_object());
  const Edge argument{body_->add_argument(name, an_object()), 0};
  body_->results.push_back({name, argument});
  return argument;
}

void LoopChange::set_next(Edge argument, Edge next) {
  body_->results[static_cast<size_t>(variable_at(argument))].value = next;
}

void LoopChange::put(std::string_view change) {
  body_->name = variant_name(body_->name, change);
  condition_->name = variant_name(condition_->name, change);
  program_.add(body_);
  program_.add(condition_);
  for (const Kind kind : objects_) {
    Node node;
    node.name = f_[loop_].name + "/" + f_.dialect->spelling(kind), node.kind = kind, node.outputs = {an_object()};
    node.stand_for(f_[loop_]);
    node.stateful = true;  // each makes an object of its own
    const Edge start{f_.add(std::move(node)), 0};
    f_[loop_].inputs.push_back(start);
    f_[loop_].outputs.push_back(an_object());
  }
  f_[loop_].attributes.set("body", FunctionName{body_->name});
  f_[loop_].attributes.set("cond", FunctionName{condition_->name});
}

}  // namespace npu::graph
