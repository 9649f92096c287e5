// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/choice.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "device/process/soc.h"
#include "graph/ir/node_error.h"

namespace npu::graph {
namespace {

constexpr float kLargestHalf = 65504;
constexpr const char* kUpdates = "its results only go into variables";

bool contains(const std::vector<size_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool has_choice(DType dtype) { return dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kBFloat16; }

DType dtype_at(const Function& f, Edge edge) { return f.output(edge).type.dtype; }

/// The dtype of the node as the graph says it; kUndefined where there is no choice.
DType source_of(const Function& f, const Node& node, const OperatorPrecision& op) {
  for (const std::string_view name : op.attributes)
    if (const auto* type = node.attributes.find<ValueType>(name))
      return has_choice(type->dtype) ? type->dtype : DType::kUndefined;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!contains(op.fixed_inputs, i) && has_choice(dtype_at(f, node.inputs[i]))) return dtype_at(f, node.inputs[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!contains(op.fixed_outputs, i) && has_choice(node.outputs[i].type.dtype)) return node.outputs[i].type.dtype;
  return DType::kUndefined;
}

class Chooser {
 public:
  Chooser(const Function& f, const Precision& precision)
      : f_(f), precision_(precision), mode_(precision.mode()), choices_(f.nodes.size()), open_(n()), updates_(n()) {}

  std::vector<Choice> run() {
    const std::vector<NodeId> order = f_.order();
    for (const NodeId id : order) start(id);
    find_updates(order);
    for (const NodeId id : order) decide(id);
    if (std::find(open_.begin(), open_.end(), true) != open_.end()) follow_readers(order);
    return std::move(choices_);
  }

 private:
  size_t n() const { return f_.nodes.size(); }
  Choice& at(NodeId id) { return choices_[static_cast<size_t>(id)]; }

  void start(NodeId id) {
    const OperatorPrecision* op = find_precision(f_[id].op);
    if (op == nullptr) return;
    const DType source = source_of(f_, f_[id], *op);
    at(id) = {op, source, source, {}, {}, ""};
  }

  bool gives_floats(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [](const Output& o) { return has_choice(o.type.dtype); });
  }
  bool holds_variable(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](Edge edge) { return f_.output(edge).type.kind == ValueKind::kResource; });
  }

  /// Vector operators whose results only go into variables: steps of an optimizer that is written as primitives, and
  /// what gradients pass through on the way there. A product with a small learning rate is lost in float16.
  void find_updates(const std::vector<NodeId>& order) {
    std::vector<bool> updates(n()), elsewhere(n());
    for (const Result& result : f_.results) elsewhere[static_cast<size_t>(result.value.node)] = true;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const auto i = static_cast<size_t>(*id);
      const Node& node = f_[*id];
      updates_[i] = at(*id).op != nullptr && at(*id).op->unit == Unit::kVector && updates[i] && !elsewhere[i];
      const bool into_variable = updates_[i] || holds_variable(node);
      for (const Edge& edge : node.inputs) {
        const auto from = static_cast<size_t>(edge.node);
        if (into_variable)
          updates[from] = true;
        else if (gives_floats(node))  // others only look at the numbers: is each finite?
          elsewhere[from] = true;
      }
    }
  }

  void take(NodeId id, DType dtype, std::string why) {
    at(id).compute = dtype;
    at(id).why = std::move(why);
  }
  void keep(NodeId id, std::string why) { take(id, at(id).source, std::move(why)); }

  void decide(NodeId id) {
    const Node& node = f_[id];
    if (mode_.policy == PrecisionPolicy::kOrigin) return keep(id, mode_.name);
    if (precision_.keeps(node)) return keep(id, "ANYNPU_KEEP_DTYPE");
    bool by_name = false;
    if (const DTypeRule* rule = precision_.dtype_rule(node, by_name)) return customize(id, *rule, by_name);
    if (at(id).source == DType::kUndefined) return;
    if (node.attributes.get_or<bool>("_keep_dtype", false)) return keep(id, "keep_dtype_scope");
    if (decided_by_implementation(id)) return;
    decide_by_mode(id);
  }

  bool decided_by_implementation(NodeId id) {
    const ImplementationRule* rule = precision_.implementation_rule(f_[id]);
    if (rule == nullptr) return false;
    const std::string why = fmt::format("op_precision_mode line {}: {}", rule->line, rule->value);
    const bool whole = rule->value == "enable_float_32_execution" || rule->value == "enable_hi_float_32_execution";
    if (whole && at(id).source == DType::kFloat) return keep(id, why), true;
    if (rule->value == "keep_fp16" && at(id).source == DType::kHalf) return keep(id, why), true;
    return false;  // the other modes choose among implementations, of which there is one
  }

  void decide_by_mode(NodeId id) {
    const Choice& choice = at(id);
    if (mode_.policy == PrecisionPolicy::kRaise) return raise(id);
    if (choice.source != DType::kFloat) return keep(id, "the graph says so");
    if (!choice.op->has(mode_.reduced)) return keep(id, no_reduced_form(choice));
    switch (mode_.policy) {
      case PrecisionPolicy::kForce:
        if (const Node* constant = too_large(id)) return keep(id, beyond(*constant));
        return updates_[static_cast<size_t>(id)] ? keep(id, kUpdates) : take(id, mode_.reduced, mode_.name);
      case PrecisionPolicy::kCube:
        if (choice.op->unit == Unit::kCube) return take(id, mode_.reduced, mode_.name + ": cube operator");
        return keep(id, mode_.name + ": vector operator");
      default: return decide_by_list(id);
    }
  }

  /// A constant that the node reads and that float16 makes infinite: attention masks are -1e9 times 0 or 1, and an
  /// infinity times 0 is no number.
  const Node* too_large(NodeId id) const {
    if (mode_.reduced != DType::kHalf) return nullptr;
    for (const Edge& edge : f_[id].inputs) {
      const Node& from = f_[edge.node];
      if (from.kind != Kind::kConstant || from.outputs[0].type.dtype != DType::kFloat) continue;
      const auto& literal = from.attributes.get<Literal>("value");
      const float* value = literal.as<float>();
      if (std::any_of(value, value + literal.count(),
                      [](float v) { return std::isfinite(v) && std::abs(v) > kLargestHalf; }))
        return &from;
    }
    return nullptr;
  }
  std::string beyond(const Node& constant) const {
    return fmt::format("{} has a number beyond the range of {}", constant.name, name_of(mode_.reduced));
  }

  std::string no_reduced_form(const Choice& choice) const {
    switch (choice.op->unit) {
      case Unit::kLoss: return "a loss keeps its type";
      case Unit::kVariable: return "it has the type of a variable";
      default: return fmt::format("there is no {} of it in {}", choice.op->op, name_of(mode_.reduced));
    }
  }

  void raise(NodeId id) {
    Choice& choice = at(id);
    if (choice.source == DType::kBFloat16) return keep(id, "the graph says so");
    if (choice.op->unit == Unit::kVariable) return keep(id, no_reduced_form(choice));
    if (choice.op->unit != Unit::kCube) return take(id, DType::kFloat, mode_.name + ": vector operator");
    if (choice.source == DType::kFloat) choice.inputs.assign(f_[id].inputs.size(), DType::kHalf);
    take(id, DType::kFloat, mode_.name + ": cube operator, float16 in and float32 out");
  }

  void decide_by_list(NodeId id) {
    std::string_view by;
    const List list = precision_.list_of(*at(id).op, by);
    const std::string name = fmt::format("{} list{}{}", to_string(list), by.empty() ? "" : " by ", by);
    if (list == List::kWhite) return take(id, mode_.reduced, name);
    if (list == List::kBlack) return keep(id, name);
    if (updates_[static_cast<size_t>(id)]) return keep(id, kUpdates);
    if (const Node* constant = too_large(id)) return keep(id, beyond(*constant));
    decide_by_producers(id, name, list == List::kClear);
  }

  void decide_by_producers(NodeId id, const std::string& name, bool clear) {
    const Node& node = f_[id];
    const Node* reduced = nullptr;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!governs_input(at(id), f_, node, i)) continue;
      const Edge edge = node.inputs[i];
      const NodeId from = edge.node;
      const Choice& before = at(from);
      if (before.source != DType::kUndefined && before.op->unit == Unit::kVariable) continue;
      if (open_[static_cast<size_t>(from)] || !governs_output(before, f_[from], static_cast<size_t>(edge.output)))
        continue;
      if (before.compute != mode_.reduced)
        return keep(id, fmt::format("{}: {} is {}", name, f_[from].name, name_of(before.compute)));
      if (reduced == nullptr) reduced = &f_[from];
    }
    if (reduced != nullptr)
      return take(id, mode_.reduced, fmt::format("{}: {} is {}", name, reduced->name, name_of(mode_.reduced)));
    keep(id, fmt::format("{}: nothing before it is {}", name, name_of(mode_.reduced)));
    open_[static_cast<size_t>(id)] = clear;
  }

  /// Operators that only move numbers, with nothing before them to go by: reduced when all that reads them is.
  void follow_readers(const std::vector<NodeId>& order) {
    std::vector<int> readers(f_.nodes.size()), reduced(f_.nodes.size());
    for (const Result& result : f_.results) ++readers[static_cast<size_t>(result.value.node)];
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const auto i = static_cast<size_t>(*id);
      if (open_[i] && readers[i] > 0 && readers[i] == reduced[i])
        take(*id, mode_.reduced, fmt::format("clear list: all that reads it is {}", name_of(mode_.reduced)));
      const Node& node = f_[*id];
      for (size_t input = 0; input < node.inputs.size(); ++input) {
        const auto from = static_cast<size_t>(node.inputs[input].node);
        ++readers[from];
        reduced[from] += at(*id).source != DType::kUndefined && governs_input(at(*id), f_, node, input) &&
                         at(*id).compute == mode_.reduced;
      }
    }
  }

  void customize(NodeId id, const DTypeRule& rule, bool by_name) {
    const Node& node = f_[id];
    Choice& choice = at(id);
    choice.inputs = wanted(id, rule, rule.inputs, node.inputs.size(), true);
    choice.outputs = wanted(id, rule, rule.outputs, node.outputs.size(), false);
    DType widest = widest_of(choice.inputs);
    if (widest == DType::kUndefined) widest = widest_of(choice.outputs);
    for (const DType out : choice.outputs)
      if (out != DType::kUndefined && out != widest) widest = DType::kFloat;
    take(id, widest == DType::kUndefined ? choice.source : widest,
         fmt::format("customize_dtypes line {}, by {}", rule.line, by_name ? "name" : "operator"));
    for (auto* list : {&choice.inputs, &choice.outputs})
      std::replace(list->begin(), list->end(), choice.compute, DType::kUndefined);
  }

  static DType widest_of(const std::vector<DType>& dtypes) {
    DType out = DType::kUndefined;
    for (const DType dtype : dtypes)
      if (dtype != DType::kUndefined) out = out == DType::kUndefined || out == dtype ? dtype : DType::kFloat;
    return out;
  }

  /// The dtypes that a rule names, checked; those of inputs or outputs the node does not have are no matter.
  std::vector<DType> wanted(NodeId id, const DTypeRule& rule, const std::vector<DType>& named, size_t count,
                            bool input) const {
    const Node& node = f_[id];
    const Choice& choice = choices_[static_cast<size_t>(id)];
    std::vector<DType> out(count, DType::kUndefined);
    for (size_t i = 0; i < std::min(count, named.size()); ++i) {
      const DType given = input ? dtype_at(f_, node.inputs[i]) : node.outputs[i].type.dtype;
      const bool governed = input ? governs_input(choice, f_, node, i) : governs_output(choice, node, i);
      if (!governed && named[i] == given) continue;
      at_node(node, [&] {
        require(governed, "customize_dtypes line {} asks for {} as its {} {}, which is {} whatever is chosen",
                rule.line, name_of(named[i]), input ? "input" : "output", i, name_of(given));
        require(choice.op->has(named[i]) && device::soc().has(named[i]),
                "customize_dtypes line {} asks for {} as its {} {}; {} on {} can have {}", rule.line, name_of(named[i]),
                input ? "input" : "output", i, node.op, device::soc().name, possible(*choice.op));
      });
      out[i] = named[i];
    }
    return out;
  }

  static std::string possible(const OperatorPrecision& op) {
    std::string out(name_of(DType::kFloat));
    for (const DType dtype : op.dtypes)
      if (device::soc().has(dtype)) out += fmt::format(", {}", name_of(dtype));
    return out;
  }

  const Function& f_;
  const Precision& precision_;
  const PrecisionMode& mode_;
  std::vector<Choice> choices_;
  std::vector<bool> open_;     ///< nothing before it decides, and its readers may
  std::vector<bool> updates_;  ///< its results only go into variables
};

}  // namespace

bool governs_input(const Choice& choice, const Function& f, const Node& node, size_t input) {
  return choice.source != DType::kUndefined && dtype_at(f, node.inputs[input]) == choice.source &&
         !contains(choice.op->fixed_inputs, input);
}

bool governs_output(const Choice& choice, const Node& node, size_t output) {
  return choice.source != DType::kUndefined && node.outputs[output].type.dtype == choice.source &&
         !contains(choice.op->fixed_outputs, output);
}

std::vector<Choice> choose(const Function& f, const Precision& precision) { return Chooser(f, precision).run(); }

}  // namespace npu::graph
