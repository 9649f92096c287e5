// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include "graph/dump/form.h"
#include "graph/dump/proto_text.h"

namespace npu::graph {
namespace {

constexpr const char* kResults = "Node_Output";  // the node that stands for a graph's results
constexpr int64_t kUnknownRank = -2;  // the vendor's only "dimension" of a shape about which nothing is known

/// Writes nothing for a scalar: a reader expects sizes in every shape that is written.
void put_shape(ProtoText& out, const PartialShape& shape) {
  if (shape.dims && shape.dims->empty()) return;
  out.block("shape", [&] {
    if (!shape.dims) return out.put("dim", kUnknownRank);
    for (const int64_t size : *shape.dims) out.put("dim", size);
  });
}

/// The members of an AttrDef, or of its list: both call them the same.
struct Put {
  ProtoText& out;
  bool weights;
  void operator()(std::monostate) const {}
  void operator()(int64_t v) const { out.put("i", v); }
  void operator()(double v) const { out.put("f", v); }
  void operator()(bool v) const { out.put("b", v); }
  void operator()(const std::string& v) const { out.quote("s", v); }
  void operator()(const ValueType& v) const { out.put("dt", ge_type(v)); }
  void operator()(const PartialShape& v) const {
    out.block("td", [&] { put_shape(out, v); });
  }
  void operator()(const FunctionName& v) const {
    out.block("func", [&] { out.quote("name", v.name); });
  }
  void operator()(const Literal& v) const {
    out.block("t", [&] {
      out.block("desc", [&] {
        out.put("dtype", ge_type(v.type));
        put_shape(out, {v.shape});
        out.quote("layout", "ND");
      });
      if (weights && v.bytes) out.quote("data", bytes_of(v));
    });
  }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    out.block("list", [&] {
      for (const auto& member : v) (*this)(static_cast<const T&>(member));
    });
  }
  /// Lists know types by number only, and no functions; names say as much.
  void operator()(const std::vector<ValueType>& v) const {
    out.block("list", [&] {
      for (const ValueType& type : v) out.quote("s", ge_type(type));
    });
  }
  void operator()(const std::vector<FunctionName>& v) const {
    out.block("list", [&] {
      for (const FunctionName& function : v) out.quote("s", function.name);
    });
  }
};

class Writer {
 public:
  Writer(const Program& program, Content content) : program_(program), content_(content) {}

  void put_graph(const Function& f) {
    graphs_.insert(f.name);
    find_readers(f);
    std::vector<std::string> more;
    out.block("graph", [&] {
      out.quote("name", f.name);
      for (const Argument& argument : f.arguments) out.quote("input", f[argument.node].name + ":0");
      for (const Result& result : f.results) out.quote("output", reference(f, result.value));
      for (const NodeId id : f.order()) {
        out.block("op", [&] { put_node(f, id); });
        for (const FunctionName& called : called_functions(f[id])) more.push_back(called.name);
      }
      out.block("op", [&] { put_results(f); });
    });
    for (const std::string& name : more)
      if (!graphs_.contains(name) && program_.functions.contains(name)) put_graph(program_.get(name));
  }

  ProtoText out;

 private:
  /// Who reads a node, as the vendor's message lists it: an entry for each output, and one for those that only wait.
  struct Readers {
    std::vector<std::string> names;  ///< of an output: "reader:reader"
    std::vector<int64_t> inputs;     ///< which input of its first reader it is
    std::string waiting;
  };

  void add_reader(Edge edge, const std::string& name, size_t input) {
    Readers& readers = readers_[static_cast<size_t>(edge.node)];
    std::string& names = readers.names[static_cast<size_t>(edge.output)];
    if (names.empty()) readers.inputs[static_cast<size_t>(edge.output)] = static_cast<int64_t>(input);
    names += (names.empty() ? "" : ":") + name;
  }

  void add_waiting(NodeId node, const std::string& name) {
    std::string& names = readers_[static_cast<size_t>(node)].waiting;
    names += (names.empty() ? "" : ":") + name;
  }

  void find_readers(const Function& f) {
    readers_.clear();
    for (const Node& node : f.nodes)
      readers_.push_back(
          {std::vector<std::string>(node.outputs.size()), std::vector<int64_t>(node.outputs.size()), {}});
    for (const NodeId id : f.order()) {
      const Node& node = f[id];
      for (size_t i = 0; i < node.inputs.size(); ++i) add_reader(node.inputs[i], node.name, i);
      for (const NodeId before : node.after) add_waiting(before, node.name);
    }
    for (size_t i = 0; i < f.results.size(); ++i) add_reader(f.results[i].value, kResults, i);
    for (const NodeId id : f.control_results) add_waiting(id, kResults);
  }

  void put_readers(NodeId id) {
    const Readers& readers = readers_[static_cast<size_t>(id)];
    for (const std::string& names : readers.names) out.quote("dst_name", names);
    if (!readers.waiting.empty()) out.quote("dst_name", readers.waiting);
    for (const int64_t input : readers.inputs) out.put("dst_index", input);
    if (!readers.waiting.empty()) out.put("dst_index", -1);
  }

  static std::string reference(const Function& f, Edge edge) {
    return fmt::format("{}:{}", f[edge.node].name, edge.output);
  }

  void put_attribute(std::string_view name, const Attribute& value) {
    out.block("attr", [&] {
      out.quote("key", name);
      out.block("value", [&] { std::visit(Put{out, content_ == Content::kAll}, value); });
    });
  }

  void put_edges(const Function& f, const Node& node) {
    for (const Edge& edge : node.inputs) out.quote("input", reference(f, edge));
    for (const NodeId before : node.after) out.quote("input", f[before].name + ":-1");
  }

  void put_node(const Function& f, NodeId id) {
    const Node& node = f[id];
    out.quote("name", node.name);
    out.quote("type", ir_type_of(node));
    put_edges(f, node);
    put_readers(id);
    if (content_ == Content::kStructure) return;
    for (const auto& [name, entry] : node.attributes.entries())
      if (!name.starts_with('_')) put_attribute(name, entry.value);
    put_origin(node);
    out.put("id", id);
    for (const Edge& edge : node.inputs) put_descriptor("input_desc", node, f.output(edge), -1);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      put_descriptor("output_desc", node, node.outputs[i], static_cast<int64_t>(i));
    for (const FunctionName& called : called_functions(node)) out.quote("subgraph_name", called.name);
  }

  /// What the comparison tools match an operator of the framework by.
  void put_origin(const Node& node) {
    if (node.kind == Kind::kArgument) return;
    std::vector<std::string> names, types;
    for (const Node* part : origins(node)) names.push_back(part->calls + part->client_name), types.push_back(part->op);
    if (const auto* joined = node.attributes.find<std::vector<std::string>>("_original_nodes"))
      names = *joined, types.assign(names.size(), node.op);
    put_attribute("_datadump_original_op_names", names);
    put_attribute("_datadump_original_op_types", types);
    if (const auto* passes = node.attributes.find<std::vector<std::string>>("_pass_name"))
      put_attribute("pass_name", *passes);
  }

  void put_descriptor(std::string_view name, const Node& node, const Output& value, int64_t output) {
    out.block(name, [&] {
      out.put("dtype", ge_type(value.type));
      put_shape(out, value.shape);
      out.quote("layout", layout_of(node, value));
      if (output >= 0 && node.kind != Kind::kArgument) {
        const Origin origin = value.type.is_tensor() ? origin_of(node, output) : Origin{nullptr, 0};
        put_attribute("_datadump_origin_name", origin.node ? origin.node->calls + origin.node->client_name : "");
        put_attribute("_datadump_origin_output_index", origin.output);
      }
      if (value.type.is_tensor() && value.shape.known())
        out.put("size", count_of(*value.shape.dims) * static_cast<int64_t>(size_of(value.type.dtype)));
    });
  }

  /// "NHWC" of a picture, else "ND".
  static std::string layout_of(const Node& node, const Output& value) {
    const auto at = node.attributes.entries().find("data_format");
    const auto* text = at == node.attributes.entries().end() ? nullptr : std::get_if<std::string>(&at->second.value);
    const bool fits = text != nullptr && value.shape.dims && value.shape.dims->size() == text->size();
    return fits ? *text : "ND";
  }

  void put_results(const Function& f) {
    out.quote("name", kResults);
    out.quote("type", ir_type_of({.op = "_Retval"}));
    for (const Result& result : f.results) out.quote("input", reference(f, result.value));
    for (const NodeId id : f.control_results) out.quote("input", f[id].name + ":-1");
    if (content_ == Content::kStructure) return;
    for (const Result& result : f.results) put_descriptor("input_desc", {}, f.output(result.value), -1);
  }

  const Program& program_;
  const Content content_;
  std::set<std::string> graphs_;
  std::vector<Readers> readers_;  ///< by node, of the graph that is written
};

}  // namespace

std::string to_ge_text(const Function& f, const Program& program, Content content) {
  Writer writer(program, content);
  writer.out.quote("name", f.name);
  writer.out.put("version", 1);
  writer.put_graph(f);
  return writer.out.take();
}

}  // namespace npu::graph
