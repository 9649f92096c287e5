// SPDX-License-Identifier: Apache-2.0
// How a node becomes steps of a plan: its meaning is one function, registered under its kind, or under its name where
// it is opaque. It sees the types and shapes of the inputs, tells those of the outputs, and calls operators of `ops`:
//
//   void lower_add(Lowering& l) {
//     const Planned out = l.make(0, l.dtype(0), broadcast(l.shape(0), l.shape(1)));
//     l.call("add").set("self", l.input(0)).set("other", l.input(1)).set("out", out);
//   }
//   NPU_NODE(Kind::kAdd, lower_add);
//
// A lowering that cannot serve a node declines with the reason; the client's framework then runs it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/ir/function.h"
#include "graph/ir/point.h"
#include "graph/plan/builder.h"
#include "graph/plan/plan.h"
#include "ops/operator.h"

namespace npu::graph {

class Object;

/// A call of an operator while it is put together.
class OperatorCall {
 public:
  OperatorCall(Step& step) : step_(step) {}  // NOLINT: a step is what it fills
  /// Raises 500000 when the operator has no such field.
  OperatorCall& set(std::string_view field, const Planned& tensor);
  OperatorCall& set(std::string_view field, std::vector<Planned> tensors);
  template <class T>
  OperatorCall& set(std::string_view field, const T& value) {
    const ops::Field& found = this->field(field, ops::detail::kind_of<T>());
    step_.attributes.push_back([&found, value](ops::Operator& op) { found.of<T>(op) = value; });
    return *this;
  }

 private:
  const ops::Field& field(std::string_view name) const;
  const ops::Field& field(std::string_view name, ops::FieldKind kind) const;
  Step& step_;
};

class Lowering {
 public:
  Lowering(PlanBuilder& builder, const Node& node, std::string_view target = {})
      : builder_(builder), node_(node), target_(target) {}

  const Node& node() const { return node_; }
  /// The name of the function that the node is in.
  const std::string& function() const;
  /// The operator named in the registration, for kinds of node that differ in nothing else.
  std::string_view target() const { return target_; }
  const Attributes& attributes() const { return node_.attributes; }
  int device() const { return builder_.surroundings.device(); }
  /// What this node keeps between runs, a T (a NodeState), the same for all plans of the function; `make` gives a
  /// std::shared_ptr<T>.
  template <class T, class Make>
  std::shared_ptr<T> state(Make&& make) const {
    return std::static_pointer_cast<T>(kept_state([&]() -> std::shared_ptr<NodeState> { return make(); }));
  }
  size_t input_count() const { return node_.inputs.size(); }
  const Planned& input(size_t i) const;
  /// Of an input of numbers; strings and objects are declined.
  const Dims& shape(size_t i) const { return numbers(i).shape(); }
  DType dtype(size_t i) const { return numbers(i).dtype(); }
  /// True when the elements of input `i` are known now.
  bool known(size_t i) const { return input(i).literal != nullptr; }
  /// The elements of an integer input. When they are not known yet, the plan ends here and goes on, made for the
  /// value, once the run has it.
  std::vector<int64_t> integers(size_t i) const;
  /// Leaves the node to the client's framework.
  [[noreturn]] void decline(std::string reason) const;
  /// The object behind input `i`, for its traits; the plan is made for them. When the node that brings it is in this
  /// plan, the plan ends here.
  const Object* object_of(size_t i) const;
  /// What the plan may count on of the variable behind input `i`: dtype and shape, undefined before it is initialized.
  /// One that holds an object of the client's is declined.
  const Tensor& variable(size_t i) const;

  /// Whether another node of the function has the value of input `i`, too.
  bool shared(size_t i) const;

  /// Output `i` in memory of its own.
  Planned make(size_t i, DType dtype, const Dims& shape);
  /// Output `i` is a view of memory that is there already.
  void alias(size_t i, Planned view);
  /// Output `i` is a constant.
  void constant(size_t i, Literal literal);
  /// Output `i` is brought by a body: a tensor of known shape, or an object.
  Planned late(size_t i, DType dtype, const Dims& shape);
  Planned object(size_t i);
  /// Output `i` is a tensor whose shape only the body tells.
  Planned dynamic(size_t i, DType dtype);
  /// Output `i`, of the type that the node declares, about which only the body knows more.
  Planned unknown(size_t i);
  /// Nothing after this node is planned before it has run.
  void end_plan();
  /// A tensor of known shape that a body brings for the other steps of the node.
  Planned bring(DType dtype, const Dims& shape);
  /// Memory for the duration of the node.
  Planned scratch(DType dtype, const Dims& shape);
  /// Elements that the steps of the node read.
  Planned given(Literal literal);

  OperatorCall call(std::string_view op);
  /// The steps that the parts of a fused node become one by one, at the end of `steps()`; tells how many there were
  /// before. All outputs are set.
  size_t lower_parts();
  std::vector<Step>& steps();
  /// All inputs in order.
  std::vector<Planned> inputs() const;
  /// What an output was set to.
  const Planned& output(size_t i) const;
  /// A body will hold on to this value beyond the run: it gets memory of its own, so that nothing is copied.
  void keep(const Planned& planned);
  /// Work on values. `used` are what it reads and brings.
  void run(std::vector<Planned> used, std::function<void(Frame&)> body);
  void run(std::vector<Planned> reads, const std::vector<Planned>& brings, std::function<void(Frame&)> body);

 private:
  std::shared_ptr<NodeState> kept_state(const std::function<std::shared_ptr<NodeState>()>& make) const;
  const Planned& numbers(size_t i) const;

  PlanBuilder& builder_;
  const Node& node_;
  std::string_view target_;
};

/// `view` seen with other sizes and strides, or in another order of axes; for tensors without known elements.
Planned reshaped(Planned view, const Dims& shape);
Planned permuted(const Planned& view, const std::vector<int64_t>& order);

using Lower = void (*)(Lowering&);

/// What nodes of one type become.
struct Meaning {
  Lower lower;
  std::string_view target;
};

/// The meaning registered for a type of node, or null.
const Meaning* find_meaning(NodeType type);
/// The same where the node's first input is a list of ours, for types that take tensors as well.
const Meaning* find_list_meaning(NodeType type);
/// The client's operators that have a meaning, by name.
std::vector<std::string_view> lowered_operators(const Dialect& client);

/// The meaning of nodes that are one line of an element-wise family.
struct PointLower {
  Lower lower;
  PointForm form;
};

struct NodeRegistration {
  NodeRegistration(NodeType type, Lower lower, std::string_view target = {}, Part part = Part::kNone);
  NodeRegistration(NodeType type, const PointLower& point, std::string_view target);
};
struct ListNodeRegistration {
  ListNodeRegistration(NodeType type, Lower lower);
};

}  // namespace npu::graph

#define NPU_NODE_NAME2(line) register_node_##line
#define NPU_NODE_NAME(line) NPU_NODE_NAME2(line)
/// NPU_NODE("Exp", unary, "exp"): registers a function as the meaning of nodes of this type, with the operator of `ops`
/// that it is to call where several types share the function. What it is in a pass over elements (point.h) follows, or
/// stands in the PointLower.
#define NPU_NODE(...) const ::npu::graph::NodeRegistration NPU_NODE_NAME(__COUNTER__)(__VA_ARGS__)
/// NPU_LIST_NODE(Kind::kAddList, add_lists): the meaning where the first input is a list.
#define NPU_LIST_NODE(...) const ::npu::graph::ListNodeRegistration NPU_NODE_NAME(__COUNTER__)(__VA_ARGS__)
