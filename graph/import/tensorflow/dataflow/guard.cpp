// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/dataflow/guard.h"

#include <algorithm>

#include "base/error.h"
#include "graph/import/tensorflow/frame_words.h"

namespace npu::graph::tensorflow {
namespace {

bool holds(const Guard& guard, const Side& side) { return std::ranges::find(guard, side) != guard.end(); }

/// What both ask for; nothing where that can never be.
std::optional<Guard> both(std::optional<Guard> a, const std::optional<Guard>& b) {
  if (!a || !b) return std::nullopt;
  // The longer one tells the order in which conditions are nested.
  Guard out = a->size() >= b->size() ? *a : *b;
  for (const Side& side : a->size() >= b->size() ? *b : *a) {
    if (holds(out, side.other())) return std::nullopt;
    if (!holds(out, side)) out.push_back(side);
  }
  return out;
}

/// `guard` without one side, where the other guard is the same with the other side.
std::optional<Guard> either(const Guard& a, const Guard& b, Edge& condition) {
  for (const Side& side : a) {
    if (!holds(b, side.other()) || a.size() != b.size()) continue;
    Guard rest = a;
    std::erase(rest, side);
    if (!std::ranges::all_of(rest, [&](const Side& one) { return holds(b, one); })) continue;
    condition = side.condition;
    return rest;
  }
  return std::nullopt;
}

/// "if less, unless more"
std::string told(const Function& f, const Guard& guard) {
  std::string out;
  for (const Side& side : guard)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", side.taken ? "if" : "unless", f[side.condition.node].name);
  return out.empty() ? "always" : out;
}

}  // namespace

Guards::Guards(const Function& f) : f_(f), nodes_(f.nodes.size(), Guard()), chooses_(f.nodes.size()) {
  for (const NodeId id : f.order()) find(id);
}

Edge Guards::condition_of(const Node& decides) const {
  Edge edge = decides.inputs[1];
  while (f_[edge.node].kind == Kind::kIdentity || is_switch(f_[edge.node].op)) edge = f_[edge.node].inputs.front();
  return edge;
}

std::optional<Guard> Guards::of(Edge edge) const {
  const std::optional<Guard>& guard = of(edge.node);
  const Node& node = f_[edge.node];
  if (!guard || !is_switch(node.op)) return guard;
  const bool taken = edge.output == 1;
  const std::optional<bool> known = value_of(node);
  if (!known) return both(guard, Guard{{condition_of(node), taken}});
  return *known == taken ? guard : std::nullopt;
}

std::optional<bool> Guards::value_of(const Node& decides) const {
  const Node& node = f_[condition_of(decides).node];
  if (node.kind != Kind::kConstant) return std::nullopt;
  const auto& literal = node.attributes.get<Literal>("value");
  if (literal.type.dtype != DType::kBool || literal.count() != 1) return std::nullopt;
  return *literal.as<bool>();
}

std::optional<Edge> Guards::chooses(NodeId merge) const { return chooses_[static_cast<size_t>(merge)]; }

void Guards::find(NodeId id) {
  const Node& node = f_[id];
  std::optional<Guard>& guard = nodes_[static_cast<size_t>(id)];
  if (is_merge(node.op)) {
    std::vector<Guard> come;
    for (const Edge& edge : node.inputs)
      if (const auto one = of(edge)) come.push_back(*one);
    require(come.size() < 2 || node.inputs.size() == 2, "node {} merges {} values; between two it can be chosen",
            node.name, node.inputs.size());
    if (come.empty()) {
      guard = std::nullopt;
    } else if (come.size() == 1) {
      guard = come.front();
    } else {
      Edge condition;
      guard = either(come[0], come[1], condition);
      require(guard.has_value(),
              "node {} merges values that are not the two sides of one condition: one comes {}, one {}", node.name,
              told(f_, come[0]), told(f_, come[1]));
      chooses_[static_cast<size_t>(id)] = condition;
    }
  } else {
    for (const Edge& edge : node.inputs) guard = both(guard, of(edge));
  }
  for (const NodeId before : node.after) guard = both(guard, of(before));
  const std::optional<Edge>& chosen_by = chooses_[static_cast<size_t>(id)];
  if (chosen_by && guard)
    require(std::ranges::find(*guard, *chosen_by, &Side::condition) == guard->end(),
            "node {} merges the two sides of a condition, and waits for one of them", node.name);
}

}  // namespace npu::graph::tensorflow
