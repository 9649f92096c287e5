// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/graph_message.h"

#include <fmt/ranges.h>

#include <charconv>

#include "graph/import/tensorflow/signatures.h"
#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

void read_function_name(Bytes name_attr_list, std::set<std::string>& into) {
  each_field(name_attr_list, [&](Field f) {
    if (f.number() == field::kFuncName) into.insert(f.text());
  });
}

void read_functions(Bytes attr_value, std::set<std::string>& into) {
  each_field(attr_value, [&](Field f) {
    if (f.number() == field::kFunc) read_function_name(f.bytes(), into);
    if (f.number() != field::kList) return;
    each_field(f.bytes(), [&](Field one) {
      if (one.number() == field::kListFunc) read_function_name(one.bytes(), into);
    });
  });
}

void read_signature_names(Bytes op_def, FunctionLink& function) {
  const Signature signature = read_signature(op_def);
  function.name = signature.name;
  for (const Formal& formal : signature.inputs) function.arguments.push_back(formal.name);
}

FunctionLink read_function_link(Bytes function_def) {
  FunctionLink out;
  out.bytes = function_def;
  each_field(function_def, [&](Field f) {
    if (f.number() == field::kSignature) read_signature_names(f.bytes(), out);
    if (f.number() == field::kNodeDef) out.nodes.push_back(read_link(f.bytes()));
  });
  return out;
}

}  // namespace

Spelling spell(std::string_view input) {
  Spelling s;
  s.control = input.starts_with('^');
  if (s.control) input.remove_prefix(1);
  const size_t last = input.rfind(':');
  if (last != std::string_view::npos) {
    const std::string_view digits = input.substr(last + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), s.index);
    if (error == std::errc() && end == digits.data() + digits.size()) input = input.substr(0, last);
  }
  const size_t colon = input.find(':');
  s.node = input.substr(0, colon);
  if (colon != std::string_view::npos) s.output = input.substr(colon + 1);
  return s;
}

NodeLink read_link(Bytes node_def) {
  NodeLink out;
  out.bytes = node_def;
  each_field(node_def, [&](Field f) {
    switch (f.number()) {
      case field::kName: out.name = f.text(); break;
      case field::kOp: out.op = f.text(); break;
      case field::kInput: out.inputs.push_back(f.text()); break;
      case field::kAttr:
        map_entry(f.bytes(), [&](const std::string&, Bytes value) { read_functions(value, out.functions); });
        break;
      default: break;
    }
  });
  return out;
}

Attribute attribute_of(Bytes node_def, std::string_view name) {
  Attribute out;
  each_field(node_def, [&](Field f) {
    if (f.number() != field::kAttr) return;
    map_entry(f.bytes(), [&](const std::string& key, Bytes value) {
      if (key == name) out = read_attribute(value);
    });
  });
  return out;
}

void Reached::refuse_unknown(std::string_view way) const {
  std::set<std::string_view> own;
  for (const FunctionLink* function : functions) own.insert(function->name);
  std::map<std::string_view, std::string_view> unknown;  // by operator, its first node
  const auto note = [&](const NodeLink& node) {
    if (known_operators().find(node.op) == nullptr && !own.contains(node.op)) unknown.emplace(node.op, node.name);
  };
  for (const FunctionLink* function : functions)
    for (const NodeLink& node : function->nodes) note(node);
  for (const NodeLink* node : nodes) note(*node);
  if (unknown.empty()) return;
  std::vector<std::string> list;
  for (const auto& [op, node] : unknown) list.push_back(fmt::format("{} (node {})", op, node));
  fail(Code::kOpNotFound, "operators of the graph are not built: {}; {}", fmt::join(list, ", "), way);
}

/// Goes from nodes to what they stand on and call.
class GraphMessage::Walk {
 public:
  Walk(const GraphMessage& graph, const std::set<std::string>& fed)
      : graph_(graph), fed_(fed), nodes_(graph.nodes_.size()), functions_(graph.functions_.size()) {}

  void want(std::string_view node) {
    const auto at = graph_.node_at_.find(node);
    if (at == graph_.node_at_.end() || nodes_[at->second]) return;  // whoever connects them says that it is missing
    nodes_[at->second] = true;
    waiting_.push_back(&graph_.nodes_[at->second]);
  }

  Reached finish() {
    while (!waiting_.empty()) {
      const NodeLink& node = *waiting_.back();
      waiting_.pop_back();
      if (fed_.contains(node.name)) continue;
      for (const std::string& input : node.inputs) want(spell(input).node);
      want_functions(node);
    }
    Reached out;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i]) out.nodes.push_back(&graph_.nodes_[i]);
    for (size_t i = 0; i < functions_.size(); ++i)
      if (functions_[i]) out.functions.push_back(&graph_.functions_[i]);
    return out;
  }

 private:
  void want_functions(const NodeLink& node) {
    want_function(node.op);
    for (const std::string& name : node.functions) want_function(name);
  }
  void want_function(std::string_view first) {
    std::vector<std::string_view> names = {first};
    while (!names.empty()) {
      const auto at = graph_.function_at_.find(names.back());
      names.pop_back();
      if (at == graph_.function_at_.end() || functions_[at->second]) continue;
      functions_[at->second] = true;
      for (const NodeLink& node : graph_.functions_[at->second].nodes) {
        names.emplace_back(node.op);
        names.insert(names.end(), node.functions.begin(), node.functions.end());
      }
    }
  }

  const GraphMessage& graph_;
  const std::set<std::string>& fed_;
  std::vector<bool> nodes_, functions_;
  std::vector<const NodeLink*> waiting_;
};

GraphMessage::GraphMessage(Bytes graph_def) {
  parsed("a GraphDef", [&] {
    each_field(graph_def, [&](Field f) {
      if (f.number() == field::kNode) nodes_.push_back(read_link(f.bytes()));
      if (f.number() != field::kLibrary) return;
      each_field(f.bytes(), [&](Field library) {
        if (library.number() == field::kFunction) functions_.push_back(read_function_link(library.bytes()));
      });
    });
  });
  for (size_t i = 0; i < nodes_.size(); ++i) node_at_.emplace(nodes_[i].name, i);
  for (size_t i = 0; i < functions_.size(); ++i) function_at_.insert_or_assign(functions_[i].name, i);
}

const FunctionLink* GraphMessage::function(std::string_view name) const {
  const auto at = function_at_.find(name);
  return at == function_at_.end() ? nullptr : &functions_[at->second];
}

Reached GraphMessage::reached(const std::set<std::string>& wanted, const std::set<std::string>& fed) const {
  Walk walk(*this, fed);
  for (const std::string& node : wanted) walk.want(node);
  return walk.finish();
}

Reached GraphMessage::reached() const {
  const std::set<std::string> fed;
  Walk walk(*this, fed);
  for (const NodeLink& node : nodes_) walk.want(node.name);
  return walk.finish();
}

Reached GraphMessage::whole() const {
  Reached out;
  for (const NodeLink& node : nodes_) out.nodes.push_back(&node);
  for (const FunctionLink& function : functions_) out.functions.push_back(&function);
  return out;
}

}  // namespace npu::graph::tensorflow
