// SPDX-License-Identifier: Apache-2.0
// One node of an ONNX graph on its way into a function of ours. What an operator becomes is a line of operators.tsv,
// or a rule:
//
//   void softsign_of(Translation& t) { t.give(0, t.point("Softsign", {t.in(0)})); }
//   NPU_ONNX("Softsign", softsign_of);
//
// Nodes that need shapes to be told apart have a meaning of their own, "ai.onnx::…" (graph/node/onnx): it sees the
// attributes as the file has them, and the shapes of the run.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/import/onnx/model.h"
#include "graph/ir/function.h"

namespace npu::graph::onnx {

/// Who is called what in one graph of the file; a graph inside of a node sees what is around it through `captured`.
struct Scope {
  Function* function = nullptr;
  std::map<std::string, Edge> values = {};
  std::map<std::string, ValueView> declared = {};  ///< what the file tells of the types of values
  const Scope* outer = nullptr;                    ///< of a graph inside of a node
  const Opsets* opsets = nullptr;
  std::string prefix = {};  ///< of the names of nodes: the calls of local functions around them
};

/// Attributes of nodes that bring what is no tensor, whose edges do not tell it: the type of a sequence's tensors, or
/// of those in an optional; and what an optional holds, a tensor or (a variant) a sequence.
inline constexpr const char *kElement = "element_dtype", *kHeld = "held";

/// Who walks the graphs of a file: what rules of nodes with graphs inside ask of it.
class Walker {
 public:
  virtual ~Walker() = default;
  /// All nodes of a graph, after its tensors; names of its values are then in `scope`.
  virtual void translate(const GraphView& graph, Scope& scope) = 0;
  /// A function made of a graph inside of a node of `outer`: `values` of its scope are its own inputs, the rest of its
  /// arguments are what it takes from around it, which `captured` tells.
  virtual Function& new_function(const std::string& name, Scope& scope, const Scope& outer) = 0;
  /// Names that these graphs read and that `outer` has, constants left out.
  virtual std::vector<std::string> captured(const std::vector<const GraphView*>& graphs, const Scope& outer) const = 0;
  /// Makes constants of `outer` known inside.
  virtual void take_constants(const GraphView& graph, const Scope& outer, Scope& inner) const = 0;
  /// What is told of a value that is no tensor; none where nothing is.
  virtual std::optional<ValueType> declared(const Function& function, Edge edge, std::string_view what) const = 0;
  /// Where tensors outside of the file lie.
  virtual const std::filesystem::path& folder() const = 0;
};

/// A node that was just made.
class Made {
 public:
  Made(Function& function, NodeId id) : function_(&function), id_(id) {}
  Made& with(std::string name, Attribute value) {
    (*function_)[id_].attributes.set(std::move(name), std::move(value));
    return *this;
  }
  /// What is known of the shape of its outputs.
  Made& shaped(const PartialShape& shape, int32_t output = 0) {
    (*function_)[id_].outputs[static_cast<size_t>(output)].shape = shape;
    return *this;
  }
  Edge output(int32_t i) const { return {id_, i}; }
  operator Edge() const { return output(0); }  // NOLINT: the first output stands for the node

 private:
  Function* function_;
  NodeId id_;
};

class Translation {
 public:
  Translation(Walker& walker, Scope& scope, const NodeView& node);

  const NodeView& node() const { return node_; }
  int64_t opset() const { return opset_; }
  Function& function() { return *scope_.function; }
  Walker& walker() { return walker_; }
  Scope& scope() { return scope_; }

  size_t input_count() const { return node_.inputs.size(); }
  bool has(size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  bool wants(size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }
  /// Raises 161002 when input `i` is left out.
  Edge in(size_t i) const;
  std::vector<Edge> ins() const;  ///< all that are given

  const Output& value(Edge edge) const { return scope_.function->output(edge); }
  DType dtype(Edge edge) const { return value(edge).type.dtype; }
  std::optional<size_t> rank(Edge edge) const;
  /// The type of the tensors in a sequence, or in an optional. Raises 161002 where nothing tells it.
  DType element(Edge edge) const;
  /// What an optional holds; none for what is no optional.
  std::optional<ValueType> held(Edge edge) const { return walker_.declared(*scope_.function, edge, kHeld); }
  /// The elements of a constant; null where only the run knows them.
  const Literal* literal(Edge edge) const;
  std::optional<std::vector<int64_t>> integers(Edge edge) const;

  bool has_attribute(std::string_view name) const { return node_.attributes.has(name); }
  template <class T>
  T attribute(std::string_view name, T otherwise) const {
    return node_.attributes.get_or<T>(name, std::move(otherwise));
  }
  /// Raises 161002 when the attribute is not there.
  template <class T>
  T required(std::string_view name) const {
    if (!node_.attributes.has(name)) missing_attribute(name);
    return node_.attributes.get<T>(name);
  }
  /// A list that was an attribute in older opsets and is input `i` in newer ones; none where neither is there. The
  /// elements of an input must be known.
  std::optional<std::vector<int64_t>> list(std::string_view name, size_t i) const;

  /// A node of the engine, with outputs of these types.
  Made make(std::string_view op, std::vector<Edge> inputs, std::vector<ValueType> types);
  Made make(std::string_view op, std::vector<Edge> inputs, DType dtype);
  /// One that goes element by element; its shape is the broadcast one, its type that of the first input.
  Made point(std::string_view op, std::vector<Edge> inputs);
  Made point(std::string_view op, std::vector<Edge> inputs, DType dtype);
  /// This node as it is, for a meaning "ai.onnx::…".
  Made itself(std::vector<ValueType> types, std::string_view meaning = {});
  Edge cast(Edge edge, DType dtype);
  Edge constant(Literal literal);
  Edge ints(const std::vector<int64_t>& values);
  Edge integer(int64_t value);
  /// One number of this type, 0-dim.
  Edge number(DType dtype, double value);

  /// Output `i` of the node is `edge`.
  void give(size_t i, Edge edge);

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  [[noreturn]] void missing_attribute(std::string_view name) const;

  Walker& walker_;
  Scope& scope_;
  const NodeView& node_;
  const int64_t opset_;
  const std::string name_;
  const size_t first_;  ///< nodes of the function before this one
};

using Rule = void (*)(Translation&);
/// "Add"; of another domain than ONNX's own "com.microsoft::FusedMatMul".
std::string full_name(const NodeView& node);
/// The rule of an operator by its full name, or null.
Rule find_rule(std::string_view op);
/// All operators that are imported, by name.
std::vector<std::string_view> imported_operators();

struct RuleRegistration {
  RuleRegistration(std::string_view op, Rule rule);
};

/// The dimensions that tensors of these shapes broadcast to, as far as they are known.
PartialShape broadcast_known(const std::vector<PartialShape>& shapes);

}  // namespace npu::graph::onnx

#define NPU_ONNX_NAME2(line) register_rule_##line
#define NPU_ONNX_NAME(line) NPU_ONNX_NAME2(line)
#define NPU_ONNX(...) const ::npu::graph::onnx::RuleRegistration NPU_ONNX_NAME(__COUNTER__)(__VA_ARGS__)
