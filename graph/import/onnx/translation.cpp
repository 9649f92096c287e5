// SPDX-License-Identifier: Apache-2.0
#include "graph/import/onnx/translation.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/import/onnx/tensor.h"
#include "graph/ir/literal.h"

namespace npu::graph::onnx {
namespace {

std::map<std::string_view, Rule>& rules() {
  static std::map<std::string_view, Rule> all;
  return all;
}

struct Row {
  std::string_view op, node, results;
};

constexpr Row kRows[] = {
#include "onnx_operators.inc"
};

const Row* find_row(std::string_view op) {
  const auto* const at = std::ranges::find(kRows, op, &Row::op);
  return at == std::end(kRows) ? nullptr : at;
}

/// A word of the column results: an input's number, or a dtype.
ValueType result_type(const Translation& t, std::string_view word) {
  if (word == "bool") return ValueType::tensor(DType::kBool);
  if (word == "int64") return ValueType::tensor(DType::kInt64);
  if (word == "int32") return ValueType::tensor(DType::kInt32);
  if (word == "uint8") return ValueType::tensor(DType::kUInt8);
  if (word == "float") return ValueType::tensor(DType::kFloat);
  return t.value(t.in(static_cast<size_t>(word.front() - '0'))).type;
}

constexpr std::string_view kPoint = "point";
/// At the end of a line: the outputs have the shape of input 0, or its rank, or two axes.
constexpr std::string_view kLike = "like", kRanked = "ranked", kMatrix = "matrix";

PartialShape shape_like(const Translation& t, std::string_view word) {
  const PartialShape& shape = t.value(t.in(0)).shape;
  if (word == kMatrix) return {Dims{kUnknownDim, kUnknownDim}};
  if (word == kLike || !shape.rank_known()) return shape;
  return {Dims(std::vector<int64_t>(shape.dims->size(), kUnknownDim))};
}

/// What the operator's line of the table says.
void by_row(Translation& t) {
  const Row& row = *find_row(full_name(t.node()));
  std::vector<std::string_view> words;
  for (size_t at = 0; at < row.results.size();) {
    const size_t end = std::min(row.results.find(' ', at), row.results.size());
    words.push_back(row.results.substr(at, end - at));
    at = end + 1;
  }
  if (words.front() == kPoint) {
    const DType type = words.size() > 1 ? result_type(t, words[1]).dtype : t.dtype(t.in(0));
    return t.give(0, t.point(row.node, t.ins(), type));
  }
  const std::string_view last = words.back();
  const bool shaped = last == kLike || last == kRanked || last == kMatrix;
  if (shaped) words.pop_back();
  std::vector<ValueType> types;
  for (size_t i = 0; i < std::max<size_t>(t.node().outputs.size(), 1); ++i)
    types.push_back(result_type(t, words[std::min(i, words.size() - 1)]));
  Made made = t.itself(types, row.node);
  for (size_t i = 0; i < t.node().outputs.size(); ++i) {
    if (shaped) made.shaped(shape_like(t, last), static_cast<int32_t>(i));
    t.give(i, made.output(static_cast<int32_t>(i)));
  }
}

std::string name_of_node(const Scope& scope, const NodeView& node) {
  if (!node.name.empty()) return scope.prefix + node.name;
  const bool named = !node.outputs.empty() && !node.outputs.front().empty();
  return scope.prefix + (named ? fmt::format("{}_{}", node.op, node.outputs.front()) : node.op);
}

int64_t opset_of(const Scope& scope, const std::string& domain) {
  const auto at = scope.opsets->find(domain);
  return at == scope.opsets->end() ? 0 : at->second;
}

}  // namespace

std::string full_name(const NodeView& node) {
  return node.domain.empty() ? node.op : fmt::format("{}::{}", node.domain, node.op);
}

RuleRegistration::RuleRegistration(std::string_view op, Rule rule) {
  if (!rules().emplace(op, rule).second) fail(Code::kInternal, "ONNX operator {} has two rules", op);
}

Rule find_rule(std::string_view op) {
  const auto at = rules().find(op);
  if (at != rules().end()) return at->second;
  return find_row(op) != nullptr ? by_row : nullptr;
}

std::vector<std::string_view> imported_operators() {
  std::vector<std::string_view> out;
  for (const auto& [op, rule] : rules()) out.push_back(op);
  for (const Row& row : kRows)
    if (!rules().contains(row.op)) out.push_back(row.op);
  std::sort(out.begin(), out.end());
  return out;
}

PartialShape broadcast_known(const std::vector<PartialShape>& shapes) {
  size_t rank = 0;
  for (const PartialShape& shape : shapes) {
    if (!shape.rank_known()) return PartialShape::unknown();
    rank = std::max(rank, shape.dims->size());
  }
  Dims out(rank, 1);
  for (const PartialShape& shape : shapes) {
    const Dims& dims = *shape.dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& to = out[rank - dims.size() + i];
      if (dims[i] == 1 || dims[i] == to) continue;
      to = to == 1 ? dims[i] : dims[i] == kUnknownDim ? to : dims[i];
    }
  }
  return {out};
}

Translation::Translation(Walker& walker, Scope& scope, const NodeView& node)
    : walker_(walker),
      scope_(scope),
      node_(node),
      opset_(opset_of(scope, node.domain)),
      name_(name_of_node(scope, node)),
      first_(scope.function->nodes.size()) {}

Edge Translation::in(size_t i) const {
  if (!has(i)) refuse(fmt::format("its input {} is left out", i));
  const auto at = scope_.values.find(node_.inputs[i]);
  if (at == scope_.values.end())
    refuse(fmt::format("no node before it gives its input '{}'; nodes stand in the order in which they run",
                       node_.inputs[i]));
  return at->second;
}

std::vector<Edge> Translation::ins() const {
  std::vector<Edge> out;
  for (size_t i = 0; i < input_count(); ++i)
    if (has(i)) out.push_back(in(i));
  return out;
}

std::optional<size_t> Translation::rank(Edge edge) const {
  const PartialShape& shape = value(edge).shape;
  return shape.rank_known() ? std::optional<size_t>(shape.dims->size()) : std::nullopt;
}

DType Translation::element(Edge edge) const {
  const auto type = walker_.declared(*scope_.function, edge, kElement);
  if (!type) refuse(fmt::format("nothing tells what '{}' holds", (*scope_.function)[edge.node].name));
  return type->dtype;
}

const Literal* Translation::literal(Edge edge) const {
  const Node& node = (*scope_.function)[edge.node];
  return node.kind == Kind::kConstant ? node.attributes.find<Literal>("value") : nullptr;
}

std::optional<std::vector<int64_t>> Translation::integers(Edge edge) const {
  const Literal* known = literal(edge);
  if (known == nullptr || !known->bytes) return std::nullopt;
  std::vector<int64_t> out;
  const bool numbers = visit_dtype(known->type.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) out.assign(known->as<T>(), known->as<T>() + known->count());
  });
  if (!numbers || !is_integer(known->type.dtype)) return std::nullopt;
  return out;
}

std::optional<std::vector<int64_t>> Translation::list(std::string_view name, size_t i) const {
  if (has_attribute(name)) return node_.attributes.get<std::vector<int64_t>>(name);
  if (!has(i)) return std::nullopt;
  auto known = integers(in(i));
  if (!known) refuse(fmt::format("its input {} ({}) is computed in the run; it must be a constant", i, name));
  return known;
}

Made Translation::make(std::string_view op, std::vector<Edge> inputs, std::vector<ValueType> types) {
  Function& f = *scope_.function;
  Node node;
  node.name = fmt::format("{}/{}", name_, op);
  node.kind = f.dialect->kind_of(op), node.op = op;
  node.inputs = std::move(inputs);
  for (const ValueType& type : types) node.outputs.push_back({type, {}});
  if (!types.empty() && types.front().is_tensor() && !op.starts_with("ai.onnx"))
    node.attributes.set("T", node.inputs.empty() ? types.front() : f.output(node.inputs.front()).type);
  return {f, f.add(std::move(node))};
}

Made Translation::make(std::string_view op, std::vector<Edge> inputs, DType dtype) {
  return make(op, std::move(inputs), std::vector<ValueType>{ValueType::tensor(dtype)});
}

Made Translation::point(std::string_view op, std::vector<Edge> inputs) {
  const DType type = dtype(inputs.front());
  return point(op, std::move(inputs), type);
}

Made Translation::point(std::string_view op, std::vector<Edge> inputs, DType dtype) {
  std::vector<PartialShape> shapes;
  for (const Edge& edge : inputs) shapes.push_back(value(edge).shape);
  return make(op, std::move(inputs), dtype).shaped(broadcast_known(shapes));
}

Made Translation::itself(std::vector<ValueType> types, std::string_view meaning) {
  const std::string own = "ai.onnx::" + node_.op;
  if (meaning.empty()) meaning = own;
  std::vector<int64_t> given;
  int64_t count = 0;
  for (size_t i = 0; i < input_count(); ++i) given.push_back(has(i) ? count++ : -1);
  Made made = make(meaning, ins(), std::move(types));
  for (const auto& [name, entry] : node_.attributes.entries()) made.with(name, entry.value);
  for (const auto& [name, tensor] : node_.tensors) made.with(name, read_tensor(tensor, walker_.folder()));
  if (meaning.starts_with("ai.onnx")) made.with("given", given).with("opset", opset_);
  return made;
}

Edge Translation::cast(Edge edge, DType to) {
  const DType from = dtype(edge);
  if (from == to) return edge;
  return make("Cast", {edge}, to)
      .with("SrcT", ValueType::tensor(from))
      .with("DstT", ValueType::tensor(to))
      .shaped(value(edge).shape);
}

Edge Translation::constant(Literal literal) {
  return {function().add_constant(name_ + "/Const", std::move(literal)), 0};
}

Edge Translation::ints(const std::vector<int64_t>& values) { return constant(literal_of(values)); }

Edge Translation::integer(int64_t value) { return constant(scalar_literal(value)); }

Edge Translation::number(DType dtype, double value) {
  std::vector<std::byte> bytes(size_of(dtype));
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_convertible_v<T, double>) {
      const T one = static_cast<T>(value);
      std::memcpy(bytes.data(), &one, sizeof(one));
    }
  });
  return constant(
      {ValueType::tensor(dtype), Dims{}, std::make_shared<const std::vector<std::byte>>(std::move(bytes)), nullptr});
}

void Translation::give(size_t i, Edge edge) {
  if (i >= node_.outputs.size() || node_.outputs[i].empty()) return;
  // Who made the first output is known by the node's name, for whoever sets something for it or looks for it.
  Function& f = function();
  if (i == 0 && std::cmp_greater_equal(edge.node, first_) && f[edge.node].kind != Kind::kConstant) {
    f.rename(edge.node, name_);
    f[edge.node].client_name = f[edge.node].name;
  }
  scope_.values[node_.outputs[i]] = edge;
}

void Translation::refuse(const std::string& reason) const {
  fail(Code::kNnInvalidParam, "node '{}' ({}, opset {}): {}", name_, node_.op, opset_, reason);
}

void Translation::missing_attribute(std::string_view name) const {
  refuse(fmt::format("it has no attribute {}", name));
}

}  // namespace npu::graph::onnx
