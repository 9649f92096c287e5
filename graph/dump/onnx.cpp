// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/form.h"
#include "graph/dump/proto_text.h"

namespace npu::graph {
namespace {

std::string edge_name(const Function& f, Edge edge) { return fmt::format("{}:{}", f[edge.node].name, edge.output); }

/// The value of an AttributeProto and its type; kinds that ONNX has no value for become text.
struct Put {
  ProtoText& out;
  bool weights;
  void operator()(std::monostate) const { text("(unsupported)"); }
  void operator()(int64_t v) const {
    out.put("i", v);
    out.put("type", "INT");
  }
  void operator()(double v) const {
    out.put("f", v);
    out.put("type", "FLOAT");
  }
  void operator()(bool v) const { (*this)(static_cast<int64_t>(v)); }
  void operator()(const std::string& v) const { text(v); }
  void operator()(const ValueType& v) const { text(ge_type(v)); }
  void operator()(const PartialShape& v) const { text(to_string(v)); }
  void operator()(const FunctionName& v) const { text(v.name); }
  void operator()(const Literal& v) const {
    out.block("t", [&] {
      for (const int64_t size : v.shape) out.put("dims", size);
      out.put("data_type", onnx_type(v.type));
      if (weights && v.bytes) out.quote("raw_data", bytes_of(v));
    });
    out.put("type", "TENSOR");
  }
  void operator()(const std::vector<int64_t>& v) const {
    for (const int64_t member : v) out.put("ints", member);
    out.put("type", "INTS");
  }
  void operator()(const std::vector<double>& v) const {
    for (const double member : v) out.put("floats", member);
    out.put("type", "FLOATS");
  }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    text(to_string(Attribute(v)));
  }

 private:
  void text(std::string_view bytes) const {
    out.quote("s", bytes);
    out.put("type", "STRING");
  }
};

void put_value(ProtoText& out, std::string_view field, const std::string& name, const Output& value, Content content) {
  out.block(field, [&] {
    out.quote("name", name);
    if (content == Content::kStructure || !value.type.is_tensor()) return;
    out.block("type", [&] {
      out.block("tensor_type", [&] {
        out.put("elem_type", onnx_type(value.type));
        if (!value.shape.dims) return;
        out.block("shape", [&] {
          for (const int64_t size : *value.shape.dims) out.block("dim", [&] { out.put("dim_value", size); });
        });
      });
    });
  });
}

void put_node(ProtoText& out, const Function& f, NodeId id, Content content) {
  const Node& node = f[id];
  for (const Edge& edge : node.inputs) out.quote("input", edge_name(f, edge));
  for (const NodeId before : node.after) out.quote("input", f[before].name + ":-1");
  for (size_t i = 0; i < node.outputs.size(); ++i) out.quote("output", edge_name(f, {id, static_cast<int32_t>(i)}));
  out.quote("name", node.name);
  out.quote("op_type", fmt::format("ge:{}", ir_type_of(node)));  // the prefix tells viewers that it is no ONNX operator
  if (content == Content::kStructure) return;
  for (const auto& [name, entry] : node.attributes.entries()) {
    if (name.starts_with('_')) continue;
    out.block("attribute", [&, &key = name, &value = entry.value] {
      out.quote("name", key);
      std::visit(Put{out, content == Content::kAll}, value);
    });
  }
}

}  // namespace

std::string to_onnx_text(const Function& f, Content content) {
  ProtoText out;
  out.put("ir_version", 5);
  out.quote("producer_name", "AnyNPU");
  out.block("graph", [&] {
    for (const NodeId id : f.order())
      if (f[id].kind != Kind::kArgument) out.block("node", [&] { put_node(out, f, id, content); });
    out.quote("name", f.name);
    for (const Argument& argument : f.arguments)
      put_value(out, "input", f[argument.node].name + ":0", argument.value, content);
    for (const Result& result : f.results)
      put_value(out, "output", edge_name(f, result.value), f.output(result.value), content);
  });
  return out.take();
}

}  // namespace npu::graph
