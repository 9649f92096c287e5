// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/verify.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "graph/ir/control_flow.h"

namespace npu::graph {
namespace {

using Types = std::vector<ValueType>;

std::string list(std::span<const ValueType> types) {
  std::string out;
  for (const ValueType& type : types) out += (out.empty() ? "" : ", ") + to_string(type);
  return "(" + out + ")";
}

void same(std::span<const ValueType> got, std::span<const ValueType> wanted, const Function& callee,
          std::string_view what) {
  require(std::equal(got.begin(), got.end(), wanted.begin(), wanted.end()), "{} of {} are {}; the node has {}", what,
          callee.name, list(got), list(wanted));
}

Types argument_types(const Function& f) {
  Types out;
  for (const Argument& a : f.arguments) out.push_back(a.value.type);
  return out;
}

Types result_types(const Function& f) {
  Types out;
  for (const Result& r : f.results) out.push_back(f.output(r.value).type);
  return out;
}

Types input_types(const Function& f, const Node& node) {
  Types out;
  for (const Edge& e : node.inputs) out.push_back(f.output(e).type);
  return out;
}

Types output_types(const Node& node) {
  Types out;
  for (const Output& o : node.outputs) out.push_back(o.type);
  return out;
}

class Verifier {
 public:
  Verifier(const Function& function, const Program& program) : f_(function), program_(program) {}

  void run() {
    for (size_t i = 0; i < f_.nodes.size(); ++i) {
      const Node& node = f_.nodes[i];
      if (!node.removed) named("node", node.name, [&] { check(node); });
    }
    for (const Result& result : f_.results) named("result", result.name, [&] { check(result.value); });
    for (const NodeId id : f_.control_results) named("function", f_.name, [&] { check_live(id); });
    for (size_t i = 0; i < f_.arguments.size(); ++i)
      named("argument", f_.arguments[i].name, [&] { check_argument(f_.arguments[i], static_cast<int64_t>(i)); });
    f_.order();
  }

 private:
  template <class Work>
  void named(std::string_view what, const std::string& name, Work&& work) {
    try {
      work();
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("function {}, {} {}: {}", f_.name, what, name, e.message()), e.place());
    }
  }

  void check_live(NodeId id) const {
    require(id >= 0 && static_cast<size_t>(id) < f_.nodes.size(), "there is no node {}", id);
    require(!f_[id].removed, "it uses node {}, which was removed", f_[id].name);
  }

  bool is_argument(NodeId id) const {
    return std::ranges::find(f_.arguments, id, &Argument::node) != f_.arguments.end();
  }

  void check(Edge edge) const {
    check_live(edge.node);
    const Node& from = f_[edge.node];
    require(edge.output >= 0 && static_cast<size_t>(edge.output) < from.outputs.size(),
            "it uses output {} of {}, which has {}", edge.output, from.name, from.outputs.size());
    require(from.kind != Kind::kArgument || is_argument(edge.node), "it uses {}, which stands for no argument",
            from.name);
  }

  void check(const Node& node) const {
    for (const Edge& edge : node.inputs) check(edge);
    for (const NodeId id : node.after) check_live(id);
    for (const FunctionName& called : called_functions(node)) program_.get(called.name);
    if (const std::optional<Call> call = as_call(node)) check_call(node, *call);
    if (node.parts) return check_parts(node, *node.parts);
    require(node.kind != Kind::kElementwise && node.kind != Kind::kVariableUpdate, "it has no parts");
  }

  void check_parts(const Node& node, const Function& parts) const {
    require(parts.arguments.size() == node.inputs.size() && parts.results.size() == node.outputs.size(),
            "its parts have {} arguments and {} results; it has {} inputs and {} outputs", parts.arguments.size(),
            parts.results.size(), node.inputs.size(), node.outputs.size());
    Verifier(parts, program_).run();
  }

  void check_call(const Node& node, const Call& call) const {
    const Types inputs = input_types(f_, node), outputs = output_types(node);
    require(inputs.size() >= call.selector_inputs, "{} has no condition among its inputs", node.op);
    const std::span<const ValueType> passed = std::span(inputs).subspan(call.selector_inputs);
    for (const std::string& name : call.bodies) {
      const Function& body = program_.get(name);
      same(argument_types(body), passed, body, "the arguments");
      same(result_types(body), outputs, body, "the results");
    }
    if (call.condition.empty()) return;
    const Function& condition = program_.get(call.condition);
    same(argument_types(condition), passed, condition, "the arguments");
    require(condition.results.size() == 1, "the condition {} has {} results; it must have one", condition.name,
            condition.results.size());
  }

  void check_argument(const Argument& argument, int64_t index) const {
    check_live(argument.node);
    const Node& node = f_[argument.node];
    require(node.kind == Kind::kArgument && node.attributes.get<int64_t>("index") == index,
            "node {} does not stand for it", node.name);
  }

  const Function& f_;
  const Program& program_;
};

}  // namespace

void verify(const Function& function, const Program& program) { Verifier(function, program).run(); }

void verify(const Program& program) {
  for (const auto& [name, function] : program.functions) verify(*function, program);
}

}  // namespace npu::graph
