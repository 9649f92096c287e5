// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/freeze.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "graph/import/tensorflow/dialect.h"
#include "graph/import/tensorflow/model_graph.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/literal.h"

namespace npu::graph::tensorflow {
namespace {

/// A variable whose handle a value was, and is now the value of.
struct Held {
  std::string variable;
  Output value;
};
using MaybeHeld = std::optional<Held>;

/// Other forms of a function's arguments, where calls of it hand over different variables.
void widen(PartialShape& shape, const PartialShape& other) {
  if (!shape.rank_known() || !other.rank_known() || shape.dims->size() != other.dims->size())
    shape = PartialShape::unknown();
  else
    for (size_t i = 0; i < shape.dims->size(); ++i)
      if ((*shape.dims)[i] != (*other.dims)[i]) (*shape.dims)[i] = kUnknownDim;
}

class Freezer {
 public:
  Freezer(Program& program, const ValueOfVariable& value_of) : program_(program), value_of_(value_of) {}

  void run(Function& f) { walk(f, std::vector<MaybeHeld>(f.arguments.size()), true); }

 private:
  using HeldValues = std::map<Edge, Held>;

  /// Which results are variables.
  std::vector<MaybeHeld> walk(Function& f, const std::vector<MaybeHeld>& given, bool outermost) {
    HeldValues held;
    for (size_t i = 0; i < f.arguments.size(); ++i)
      if (given[i]) take(f, f.arguments[i], *given[i], held);
    for (const NodeId id : f.order()) {
      if (makes_variable(f[id].op)) {
        if (!outermost)
          fail(Code::kFeatureUnsupported,
               "function {}, node {}: a variable is made inside of a function; make it once, outside", f.name,
               f[id].name);
        become_constant(f, id, held);
      } else if (std::ranges::any_of(f[id].inputs, [&](Edge e) { return held.contains(e); })) {
        rewrite(f, id, held);
      }
    }
    std::vector<MaybeHeld> out;
    for (const Result& result : f.results) out.push_back(find(held, result.value));
    return out;
  }

  static MaybeHeld find(const HeldValues& held, Edge edge) {
    const auto at = held.find(edge);
    return at == held.end() ? std::nullopt : MaybeHeld(at->second);
  }

  static void hold(Function& f, Edge edge, const Held& one, HeldValues& held) {
    f[edge.node].outputs[static_cast<size_t>(edge.output)] = one.value;
    held.emplace(edge, one);
  }

  static void take(Function& f, Argument& argument, const Held& one, HeldValues& held) {
    argument.value = one.value;
    hold(f, {argument.node, 0}, one, held);
  }

  void become_constant(Function& f, NodeId id, HeldValues& held) const {
    Literal value = value_of_(f[id].name);
    const ValueType wanted = f[id].attributes.get<ValueType>("dtype");
    require(value.type == wanted, "variable {} is of {}; its values are of {}", f[id].name, to_string(wanted),
            to_string(value.type));
    Held one{f[id].name, {value.type, {value.shape}}};
    const bool handle = f[id].op == "VarHandleOp";
    Node& node = f[id];
    node.kind = Kind::kConstant, node.op = dialect().spelling(Kind::kConstant), node.stateful = false;
    node.attributes = {};
    node.attributes.set("dtype", value.type), node.attributes.set("value", std::move(value));
    if (handle)
      hold(f, {id, 0}, one, held);
    else
      node.outputs.front() = one.value;  // a reference, of which readers see the value
  }

  void rewrite(Function& f, NodeId id, HeldValues& held) {
    if (as_call(f[id])) return pass_on(f, id, held);
    const Held one = *first_held(f[id], held);
    const bool handle_first = held.contains(f[id].inputs.front());
    const Node& node = f[id];
    if (handle_first && node.kind == Kind::kIdentity) {
      f[id].attributes.set("T", one.value.type);
      hold(f, {id, 0}, one, held);
    } else if (handle_first && node.kind == Kind::kRead) {
      become(f[id], "Identity", {{"T", one.value.type}});
      f[id].outputs.front() = one.value;
    } else if (handle_first && node.op == "ResourceGather") {
      gather(f, id, one);
    } else if (handle_first && node.op == "ResourceGatherNd") {
      become(f[id], "GatherNd",
             {{"Tparams", one.value.type}, {"Tindices", f[id].attributes.get<ValueType>("Tindices")}});
    } else if (handle_first && node.op == "VariableShape") {
      become(f[id], "Shape", {{"T", one.value.type}, {"out_type", f[id].attributes.get<ValueType>("out_type")}});
    } else if (handle_first && node.op == "DisableCopyOnRead") {
      become(f[id], "NoOp", {});
      f[id].inputs.clear();
    } else {
      refuse(f, node, one);
    }
  }

  static MaybeHeld first_held(const Node& node, const HeldValues& held) {
    for (const Edge edge : node.inputs)
      if (const MaybeHeld one = find(held, edge)) return one;
    return {};
  }

  /// Another operator over the same inputs.
  static void become(Node& node, const char* op, const std::vector<std::pair<const char*, Attribute>>& attributes) {
    node.op = op, node.kind = dialect().kind_of(op), node.stateful = false;
    node.attributes = {};
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
  }

  static void gather(Function& f, NodeId id, const Held& one) {
    const auto batch = f[id].attributes.get_or<int64_t>("batch_dims", 0);
    const ValueType indices = f[id].attributes.get<ValueType>("Tindices");
    const NodeId axis = f.add_constant(f[id].name + "/axis", scalar_literal(static_cast<int32_t>(batch)));
    become(f[id], "GatherV2",
           {{"Tparams", one.value.type},
            {"Tindices", indices},
            {"Taxis", ValueType::tensor(DType::kInt32)},
            {"batch_dims", batch}});
    f[id].inputs.push_back({axis, 0});
  }

  [[noreturn]] static void refuse(const Function& f, const Node& node, const Held& one) {
    fail(Code::kFeatureUnsupported,
         "function {}, node {}: {} is given the variable {}; a model's variables are constants: export a function that "
         "only reads them",
         f.name, node.name, node.op, one.variable);
  }

  void pass_on(Function& f, NodeId id, HeldValues& held) {
    const Call call = *as_call(f[id]);
    std::vector<MaybeHeld> given;
    for (size_t i = call.selector_inputs; i < f[id].inputs.size(); ++i) given.push_back(find(held, f[id].inputs[i]));
    if (!call.condition.empty()) frozen(call.condition, given);
    for (const std::string& body : call.bodies) {
      const std::vector<MaybeHeld>& results = frozen(body, given);
      for (size_t i = 0; i < results.size() && i < f[id].outputs.size(); ++i)
        if (results[i]) hold(f, {id, static_cast<int32_t>(i)}, *results[i], held);
    }
    tell_types(f, f[id]);
  }

  /// A function is rewritten once; calls with other variables make the shapes of its arguments wider.
  const std::vector<MaybeHeld>& frozen(const std::string& name, const std::vector<MaybeHeld>& given) {
    Function& f = program_.get(name);
    require(given.size() == f.arguments.size(), "function {} takes {} arguments; a call has {}", name,
            f.arguments.size(), given.size());
    const auto [at, first] = results_.try_emplace(name);
    if (first) return at->second = walk(f, given, false);
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given[i]) continue;
      Argument& argument = f.arguments[i];
      require(argument.value.type == given[i]->value.type, "function {}: argument {} is of {}; variable {} is of {}",
              name, argument.name, to_string(argument.value.type), given[i]->variable, to_string(given[i]->value.type));
      widen(argument.value.shape, given[i]->value.shape);
      f[argument.node].outputs.front().shape = argument.value.shape;
    }
    return at->second;
  }

  /// The attributes that list the types of what goes in and comes out.
  static void tell_types(const Function& f, Node& node) {
    std::vector<ValueType> in, out;
    for (const Edge edge : node.inputs) in.push_back(f.output(edge).type);
    for (const Output& one : node.outputs) out.push_back(one.type);
    if (node.kind == Kind::kIf || node.kind == Kind::kCase) in.erase(in.begin());
    for (const auto& [name, types] : {std::pair{"T", &in}, std::pair{"Tin", &in}, std::pair{"Tout", &out}})
      if (node.attributes.has(name)) node.attributes.set(name, *types);
  }

  Program& program_;
  const ValueOfVariable& value_of_;
  std::map<std::string, std::vector<MaybeHeld>> results_;  ///< of the functions that are done
};

}  // namespace

void freeze(Function& f, Program& program, const ValueOfVariable& value_of) { Freezer(program, value_of).run(f); }

}  // namespace npu::graph::tensorflow
