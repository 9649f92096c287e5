// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pattern/match.h"

#include <algorithm>

namespace npu::graph {
namespace {

bool all_are(const Literal& literal, double value) {
  bool same = false;
  visit_dtype(literal.type.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (requires(T x) { static_cast<double>(x); }) {
      const T* from = literal.as<T>();
      same = std::all_of(from, from + literal.count(), [&](T x) { return static_cast<double>(x) == value; });
    }
  });
  return same;
}

}  // namespace

Readers::Readers(const Function& f) : f_(f), nodes_(f.nodes.size()) {
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    if (f.nodes[i].removed) continue;
    const auto id = static_cast<NodeId>(i);
    for (const Edge& edge : f.nodes[i].inputs) {
      std::vector<NodeId>& readers = nodes_[static_cast<size_t>(edge.node)];
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
  }
}

std::vector<NodeId> Readers::of(Edge edge) const {
  std::vector<NodeId> out;
  for (const NodeId id : nodes_[static_cast<size_t>(edge.node)])
    out.insert(out.end(), static_cast<size_t>(std::count(f_[id].inputs.begin(), f_[id].inputs.end(), edge)), id);
  for (const Result& result : f_.results)
    if (result.value == edge) out.push_back(-1);
  return out;
}

NodeId Readers::only(Edge edge) const {
  const std::vector<NodeId> readers = of(edge);
  return readers.size() == 1 ? readers.front() : -1;
}

NodeId producer(const Function& f, Edge edge, Kind kind) {
  return edge.node >= 0 && edge.output == 0 && f[edge.node].kind == kind ? edge.node : -1;
}

const Literal* constant_at(const Function& f, Edge edge) {
  return producer(f, edge, Kind::kConstant) < 0 ? nullptr : f[edge.node].attributes.find<Literal>("value");
}

bool is_filled_with(const Function& f, Edge edge, double value) {
  if (const NodeId fill = producer(f, edge, Kind::kFill); fill >= 0) edge = f[fill].inputs[1];
  const Literal* literal = constant_at(f, edge);
  return literal != nullptr && literal->bytes && all_are(*literal, value);
}

std::optional<double> number_at(const Function& f, Edge edge) {
  const Literal* literal = constant_at(f, edge);
  if (literal == nullptr || !literal->bytes || literal->count() != 1) return std::nullopt;
  std::optional<double> out;
  visit_dtype(literal->type.dtype, [&](auto zero) {
    if constexpr (requires { static_cast<double>(zero); }) out = static_cast<double>(*literal->as<decltype(zero)>());
  });
  return out;
}

Edge other_input(const Node& node, Edge edge) {
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return {};
  return node.inputs[0] == edge ? node.inputs[1] : node.inputs[1] == edge ? node.inputs[0] : Edge{};
}

NodeId followed_by(const Function& f, const Readers& readers, Edge edge, Kind kind, Edge& parameter) {
  const NodeId reader = readers.only(edge);
  if (reader < 0 || f[reader].kind != kind) return -1;
  const Edge other = other_input(f[reader], edge);
  if (other.node < 0 || !is_parameter(f, other)) return -1;
  parameter = other;
  return reader;
}

bool is_parameter(const Function& f, Edge edge) {
  while (f[edge.node].kind == Kind::kCast || f[edge.node].kind == Kind::kReshape ||
         f[edge.node].kind == Kind::kIdentity)
    edge = f[edge.node].inputs.front();
  return f[edge.node].kind == Kind::kRead || f[edge.node].kind == Kind::kArgument ||
         f[edge.node].kind == Kind::kConstant;
}

}  // namespace npu::graph
