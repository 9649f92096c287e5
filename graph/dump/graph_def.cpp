// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/form.h"
#include "graph/dump/proto_text.h"

namespace npu::graph {
namespace {

void put_shape(ProtoText& out, std::string_view name, const PartialShape& shape) {
  out.block(name, [&] {
    if (!shape.dims) return out.put("unknown_rank", true);
    for (const int64_t size : *shape.dims) out.block("dim", [&] { out.put("size", size); });
  });
}

/// The members of an AttrValue, or of its list: both call them the same.
struct Put {
  ProtoText& out;
  void operator()(std::monostate) const {}
  void operator()(int64_t v) const { out.put("i", v); }
  void operator()(double v) const { out.put("f", v); }
  void operator()(bool v) const { out.put("b", v); }
  void operator()(const std::string& v) const { out.quote("s", v); }
  void operator()(const ValueType& v) const { out.put("type", tensorflow_type(v)); }
  void operator()(const PartialShape& v) const { put_shape(out, "shape", v); }
  void operator()(const FunctionName& v) const {
    out.block("func", [&] { out.quote("name", v.name); });
  }
  void operator()(const Literal& v) const {
    out.block("tensor", [&] {
      out.put("dtype", tensorflow_type(v.type));
      put_shape(out, "tensor_shape", {v.shape});
      if (v.bytes) out.quote("tensor_content", bytes_of(v));
      if (v.strings)
        for (const std::string& text : *v.strings) out.quote("string_val", text);
    });
  }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    out.block("list", [&] {
      for (const auto& member : v) (*this)(static_cast<const T&>(member));
    });
  }
};

void put_attribute(ProtoText& out, std::string_view name, const Attribute& value) {
  out.block("attr", [&] {
    out.quote("key", name);
    out.block("value", [&] { std::visit(Put{out}, value); });
  });
}

std::string reference(const Function& f, Edge edge) {
  const std::string& name = f[edge.node].name;
  return edge.output == 0 ? name : fmt::format("{}:{}", name, edge.output);
}

void put_node(ProtoText& out, const Function& f, const Node& node) {
  const bool argument = node.kind == Kind::kArgument;
  out.quote("name", node.name);
  out.quote("op", argument ? "_Arg" : node.op);
  for (const Edge& edge : node.inputs) out.quote("input", reference(f, edge));
  for (const NodeId before : node.after) out.quote("input", "^" + f[before].name);
  if (argument) put_attribute(out, "T", node.outputs.front().type);
  for (const auto& [name, entry] : node.attributes.entries()) put_attribute(out, name, entry.value);
  if (!node.parts) return;
  std::vector<std::string> names, ops;
  for (const Node* part : origins(node)) names.push_back(part->name), ops.push_back(part->op);
  put_attribute(out, "_fused_names", names);
  put_attribute(out, "_fused_ops", ops);
}

void put_result(ProtoText& out, const Function& f, size_t index) {
  const Result& result = f.results[index];
  out.quote("name", result.name + "_Retval");
  out.quote("op", "_Retval");
  out.quote("input", reference(f, result.value));
  put_attribute(out, "T", f.output(result.value).type);
  put_attribute(out, "index", static_cast<int64_t>(index));
}

}  // namespace

std::string to_graph_def(const Function& f) {
  ProtoText out;
  for (const NodeId id : f.order()) out.block("node", [&] { put_node(out, f, f[id]); });
  for (size_t i = 0; i < f.results.size(); ++i) out.block("node", [&] { put_result(out, f, i); });
  return out.take();
}

}  // namespace npu::graph
