// SPDX-License-Identifier: Apache-2.0
#include "graph/import/onnx/importer.h"

#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "graph/import/onnx/reader.h"
#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/upgrade.h"
#include "graph/import/tensorflow/dialect.h"

namespace npu::graph::onnx {
namespace {

constexpr int kDeepest = 64;

/// Names that nodes of the graph read and that it does not bring itself.
void find_free(const GraphView& graph, std::set<std::string> own, std::vector<std::string>& found) {
  const auto read = [&](const std::string& name) {
    if (!name.empty() && !own.contains(name) && std::ranges::find(found, name) == found.end()) found.push_back(name);
  };
  for (const ValueView& input : graph.inputs) own.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) own.insert(name);
  for (const auto& [name, tensor] : graph.sparse_initializers) own.insert(name);
  for (const NodeView& node : graph.nodes) {
    for (const std::string& name : node.inputs) read(name);
    for (const auto& [name, inner] : node.graphs) {
      std::vector<std::string> inside;
      find_free(read_graph(inner), {}, inside);
      for (const std::string& free : inside) read(free);
    }
    own.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ValueView& output : graph.outputs) read(output.name);
}

bool is_constant(const Scope& scope, Edge edge) { return (*scope.function)[edge.node].kind == Kind::kConstant; }

/// A node with the attributes that its caller gave the local function.
NodeView with_arguments(NodeView node, const NodeView& call, const Attributes& defaults) {
  for (const auto& [name, outer] : node.references) {
    if (call.attributes.has(outer))
      node.attributes.set(name, call.attributes.entries().find(outer)->second.value);
    else if (call.tensors.contains(outer))
      node.tensors[name] = call.tensors.at(outer);
    else if (call.graphs.contains(outer))
      node.graphs[name] = call.graphs.at(outer);
    else if (defaults.has(outer))
      node.attributes.set(name, defaults.entries().find(outer)->second.value);
  }
  return node;
}

}  // namespace

void Importer::check_opsets() const {
  const auto at = model_.opsets.find("");
  if (at == model_.opsets.end() && model_.opsets.empty())
    fail(Code::kParseFile, "the model names no opset; it is cut off, or no ONNX model");
  if (at == model_.opsets.end()) return;
  if (at->second < kOldestOpset)
    fail(Code::kNnInvalidParam,
         "the model is of opset {}; opsets {} to {} are read: convert it with onnx.version_converter to opset 13",
         at->second, kOldestOpset, kNewestOpset);
  if (at->second > kNewestOpset)
    fail(Code::kNnInvalidParam, "the model is of opset {}; opsets {} to {} are read: export it with opset_version=18",
         at->second, kOldestOpset, kNewestOpset);
}

Imported Importer::run() {
  check_opsets();
  const GraphView graph = read_graph(model_.graph);
  const auto function = std::make_shared<Function>(graph.name.empty() ? "model" : graph.name, tensorflow::dialect());
  names_.insert(function->name);
  Scope scope = outermost(*function, graph);
  add_inputs(graph, scope);
  translate(graph, scope);
  refuse_unknown();
  if (options_.out_nodes.empty())
    add_results(graph, scope);
  else
    add_asked_results(scope);
  out_.function = function->name;
  out_.program.add(function);
  const auto own = model_.opsets.find("");
  out_.format = fmt::format("ONNX {}", own == model_.opsets.end() ? 0 : own->second);
  out_.producer = model_.producer_version.empty() ? model_.producer
                                                  : fmt::format("{} {}", model_.producer, model_.producer_version);
  out_.values = scope.values;
  return std::move(out_);
}

Scope Importer::outermost(Function& function, const GraphView& graph) {
  Scope scope;
  scope.function = &function, scope.opsets = &model_.opsets;
  for (const ValueView& value : graph.values) scope.declared[value.name] = value;
  for (const ValueView& value : graph.outputs) scope.declared[value.name] = value;
  return scope;
}

/// Before opset 9 tensors of the file were inputs, too; those are none for us.
void Importer::add_inputs(const GraphView& graph, Scope& scope) {
  std::set<std::string> tensors;
  for (const auto& [name, tensor] : graph.initializers) tensors.insert(name);
  for (const auto& [name, tensor] : graph.sparse_initializers) tensors.insert(name);
  for (const ValueView& input : graph.inputs) {
    if (tensors.contains(input.name)) continue;
    if (input.type.is_tensor() && input.type.dtype == DType::kUndefined)
      fail(Code::kUnsupportedDataType, "input '{}' is of type {}, which the NPU does not compute", input.name,
           element_name(input.element));
    Output value{input.type, input.shape};
    if (const auto at = options_.input_shapes.find(input.name); at != options_.input_shapes.end()) {
      if (input.shape.rank_known() && input.shape.dims->size() != at->second.size())
        fail(Code::kNnInvalidParam, "input '{}' is {}; the shape {} given for it has another rank", input.name,
             to_string(input.shape), at->second);
      value.shape = {at->second};
    }
    scope.values[input.name] = {scope.function->add_argument(input.name, value), 0};
    if (!input.type.is_tensor()) {
      Attributes& attributes = (*scope.function)[scope.values[input.name].node].attributes;
      if (const DType element = element_type(input.element); element != DType::kUndefined)
        attributes.set(kElement, ValueType::tensor(element));
      if (input.held) attributes.set(kHeld, *input.held);
    }
    out_.symbols[input.name] = input.symbols;
  }
  for (const auto& [name, shape] : options_.input_shapes)
    if (!scope.values.contains(name))
      fail(Code::kNnInvalidParam, "a shape is given for input '{}', which the model does not have; its inputs: {}",
           name, fmt::join(graph.inputs | std::views::transform(&ValueView::name), ", "));
}

void Importer::add_results(const GraphView& graph, const Scope& scope) {
  for (const ValueView& output : graph.outputs) {
    const auto at = scope.values.find(output.name);
    if (at == scope.values.end()) fail(Code::kNnInvalidParam, "no node gives the model's output '{}'", output.name);
    Output& made = (*scope.function)[at->second.node].outputs[static_cast<size_t>(at->second.output)];
    if (!made.shape.rank_known()) made.shape = output.shape;
    scope.function->results.push_back({output.name, at->second});
  }
}

void Importer::add_asked_results(const Scope& scope) {
  for (const std::string& asked : options_.out_nodes) {
    const size_t colon = asked.rfind(':');
    const std::string node = asked.substr(0, colon);
    const auto at = out_.nodes.find(node);
    if (at == out_.nodes.end())
      fail(Code::kNnInvalidParam, "out_nodes names node '{}', which the model does not have", node);
    const std::string text = colon == std::string::npos ? "0" : asked.substr(colon + 1);
    const bool number =
        !text.empty() && text.size() < 4 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    const size_t output = number ? std::stoul(text) : at->second.size();
    if (output >= at->second.size())
      fail(Code::kNnInvalidParam, "out_nodes names output '{}' of node '{}', which has {}", text, node,
           at->second.size());
    const std::string& name = at->second[output];
    scope.function->results.push_back({name, scope.values.at(name)});
  }
}

void Importer::translate(const GraphView& graph, Scope& scope) {
  for (const auto& [name, tensor] : graph.initializers)
    scope.values[name] = {
        scope.function->add_constant(
            scope.prefix + name, parsed("a tensor of an ONNX model", [&] { return read_tensor(tensor, folder()); })),
        0};
  for (const auto& [name, tensor] : graph.sparse_initializers)
    scope.values[name] = {
        scope.function->add_constant(
            scope.prefix + name, parsed("a tensor of an ONNX model", [&] { return read_sparse(tensor, folder()); })),
        0};
  for (const NodeView& node : graph.nodes) translate(node, scope);
}

void Importer::translate(const NodeView& node, Scope& scope) {
  if (inline_function(node, scope)) return;
  if (find_rule(full_name(node)) == nullptr) return note_unknown(node, scope);
  // Behind a node that is not known nothing can be told of types; all that are not known are told at once.
  if (!unknown_.empty()) return;
  const Translation t(*this, scope, node);
  const auto rank_of = [&](const std::string& name) {
    const auto at = scope.values.find(name);
    return at == scope.values.end() ? std::nullopt : t.rank(at->second);
  };
  try {
    for (const NodeView& each : as_in_opset_7(node, t.opset(), rank_of)) apply_rule(each, scope);
  } catch (const Error& e) {
    if (!unknown_.empty()) return;  // of a graph inside of it, which is told at the end
    if (e.message().starts_with("node '")) throw;
    throw Error(e.code(), fmt::format("node '{}{}' ({}, opset {}): {}", scope.prefix, node.name, node.op, t.opset(),
                                      e.message()));
  }
  if (!unknown_.empty()) return;
  if (scope.outer == nullptr && scope.prefix.empty() && !node.name.empty()) out_.nodes[node.name] = node.outputs;
}

void Importer::apply_rule(const NodeView& node, Scope& scope) {
  Translation t(*this, scope, node);
  parsed("a node of an ONNX model", [&] { find_rule(full_name(node))(t); });
  if (!unknown_.empty()) return;
  for (const std::string& name : node.outputs)
    if (!name.empty() && !scope.values.contains(name)) t.refuse(fmt::format("its output '{}' is not built", name));
}

void Importer::note_unknown(const NodeView& node, const Scope& scope) {
  std::string op = full_name(node);
  std::string name = scope.prefix + node.name;
  if (node.name.empty() && !node.outputs.empty()) name = "of output " + node.outputs.front();
  unknown_[op].push_back(name);
}

void Importer::refuse_unknown() const {
  if (unknown_.empty()) return;
  std::string list;
  for (const auto& [op, nodes] : unknown_) {
    constexpr size_t kShown = 3;
    const std::vector<std::string> shown(nodes.begin(),
                                         nodes.begin() + static_cast<int64_t>(std::min(nodes.size(), kShown)));
    list += fmt::format("{}{} (node {}{})", list.empty() ? "" : ", ", op, fmt::join(shown, ", "),
                        nodes.size() > kShown ? fmt::format(" and {} more", nodes.size() - kShown) : "");
  }
  fail(Code::kOpNotFound,
       "operators of the model are not built: {}; docs/onnx.md lists those that are: write the model without them, or "
       "end it before them with out_nodes",
       list);
}

/// A call of a function that the file brings: its nodes stand where the call stood.
bool Importer::inline_function(const NodeView& node, Scope& scope) {
  const auto at = model_.functions.find({node.domain, node.op});
  if (at == model_.functions.end()) return false;
  const FunctionView& function = at->second;
  require(++depth_ <= kDeepest, "function {} of the model calls itself", node.op);
  Scope inner;
  inner.function = scope.function;
  inner.opsets = function.opsets.empty() ? scope.opsets : &function.opsets;
  inner.outer = scope.outer;
  inner.prefix = scope.prefix + (node.name.empty() ? node.op : node.name) + "/";
  for (size_t i = 0; i < function.inputs.size() && i < node.inputs.size(); ++i)
    if (const auto value = scope.values.find(node.inputs[i]); value != scope.values.end())
      inner.values[function.inputs[i]] = value->second;
  for (const NodeView& own : function.nodes) translate(with_arguments(own, node, function.defaults), inner);
  --depth_;
  for (size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
    const auto value = inner.values.find(function.outputs[i]);
    if (value != inner.values.end()) scope.values[node.outputs[i]] = value->second;
  }
  return true;
}

Function& Importer::new_function(const std::string& name, Scope& scope, const Scope& outer) {
  require(++depth_ <= kDeepest, "graphs lie more than {} deep in each other", kDeepest);
  std::string free = name;
  for (int suffix = 1; !names_.insert(free).second; ++suffix) free = fmt::format("{}_{}", name, suffix);
  const auto function = std::make_shared<Function>(free, *outer.function->dialect);
  out_.program.add(function);
  scope.function = function.get(), scope.outer = &outer, scope.opsets = outer.opsets;
  --depth_;
  return *function;
}

std::vector<std::string> Importer::captured(const std::vector<const GraphView*>& graphs, const Scope& outer) const {
  std::vector<std::string> free, out;
  for (const GraphView* graph : graphs) find_free(*graph, {}, free);
  for (const std::string& name : free)
    if (const auto at = outer.values.find(name); at != outer.values.end() && !is_constant(outer, at->second))
      out.push_back(name);
  return out;
}

void Importer::take_constants(const GraphView& graph, const Scope& outer, Scope& inner) const {
  std::vector<std::string> free;
  find_free(graph, {}, free);
  for (const std::string& name : free) {
    const auto at = outer.values.find(name);
    if (at == outer.values.end() || !is_constant(outer, at->second)) continue;
    const Node& node = (*outer.function)[at->second.node];
    inner.values[name] = {inner.function->add_constant(node.name, node.attributes.get<Literal>("value")), 0};
  }
}

std::optional<ValueType> Importer::declared(const Function& function, Edge edge, std::string_view what) const {
  const Node& node = function[edge.node];
  if (const auto* type = node.attributes.find<ValueType>(what)) return *type;
  if (node.kind == Kind::kIdentity) return declared(function, node.inputs.front(), what);
  const std::vector<FunctionName> called = called_functions(node);
  if (called.empty()) return std::nullopt;
  const Function& body = out_.program.get(called.front().name);
  return declared(body, body.results.at(static_cast<size_t>(edge.output)).value, what);
}

Imported read_model(Bytes bytes, const ImportOptions& options) {
  const ModelView model = read_parts(bytes);
  if (model.graph.data() == nullptr) fail(Code::kParseFile, "the file holds no graph; it is cut off, or no ONNX model");
  return Importer(model, options).run();
}

}  // namespace npu::graph::onnx
