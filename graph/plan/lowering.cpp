// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/lowering.h"

#include <algorithm>
#include <map>

#include "graph/plan/refusal.h"

namespace npu::graph {
namespace {

using Registry = std::map<NodeType, Meaning>;

Registry& registry() {
  static Registry meanings;
  return meanings;
}

/// Meanings that count where the first input is one of our lists.
Registry& list_registry() {
  static Registry meanings;
  return meanings;
}

void add(Registry& meanings, NodeType type, Meaning meaning) {
  if (!meanings.emplace(type, meaning).second) fail(Code::kInternal, "node {} is registered twice", to_string(type));
}

const Meaning* find(const Registry& meanings, NodeType type) {
  const auto at = meanings.find(type);
  return at == meanings.end() ? nullptr : &at->second;
}

}  // namespace

NodeRegistration::NodeRegistration(NodeType type, Lower lower, std::string_view target, Part part) {
  add(registry(), type, {lower, target});
  if (part != Part::kNone) declare_part(type, {part, target});
}

NodeRegistration::NodeRegistration(NodeType type, const PointLower& point, std::string_view target) {
  add(registry(), type, {point.lower, target});
  declare_part(type, {Part::kPoint, target, point.form});
}

ListNodeRegistration::ListNodeRegistration(NodeType type, Lower lower) { add(list_registry(), type, {lower, {}}); }

const Meaning* find_meaning(NodeType type) { return find(registry(), type); }

const Meaning* find_list_meaning(NodeType type) { return find(list_registry(), type); }

std::vector<std::string_view> lowered_operators(const Dialect& client) {
  std::vector<std::string_view> out;
  for (const auto& [type, meaning] : registry()) {
    if (type.kind == Kind::kOpaque)
      out.push_back(type.op);
    else
      out.insert(out.end(), client.spellings(type.kind).begin(), client.spellings(type.kind).end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Planned reshaped(Planned view, const Dims& shape) {
  require(count_of(shape) == view.view.count(), "{} elements cannot have the shape {}", view.view.count(), shape);
  view.view = view.view.view(shape, contiguous_strides(shape));
  view.literal = nullptr;
  return view;
}

Planned permuted(const Planned& planned, const std::vector<int64_t>& order) {
  Planned out = planned;
  out.literal = nullptr;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    out.view.shape[i] = planned.view.shape[from];
    out.view.strides[i] = planned.view.strides[from];
  }
  return out;
}

const ops::Field& OperatorCall::field(std::string_view name) const {
  const ops::Field* found = step_.def->field(name);
  if (found == nullptr) fail(Code::kInternal, "operator {} has no field '{}'", step_.def->name, name);
  return *found;
}

const ops::Field& OperatorCall::field(std::string_view name, ops::FieldKind kind) const {
  const ops::Field& found = field(name);
  if (found.kind != kind) fail(Code::kInternal, "field '{}' of operator {} holds another type", name, step_.def->name);
  return found;
}

OperatorCall& OperatorCall::set(std::string_view name, const Planned& tensor) {
  return set(name, std::vector<Planned>{tensor});
}

OperatorCall& OperatorCall::set(std::string_view name, std::vector<Planned> tensors) {
  for (const Planned& tensor : tensors) {
    if (is_object(tensor.type)) throw Declined{"an input holds no numbers"};
    step_.uses.push_back(tensor.slot);
  }
  step_.tensors.push_back({&field(name), std::move(tensors)});
  return *this;
}

const std::string& Lowering::function() const { return builder_.function->name; }

std::shared_ptr<NodeState> Lowering::kept_state(const std::function<std::shared_ptr<NodeState>()>& make) const {
  return builder_.surroundings.state(function(), node_.name, make);
}

const Planned& Lowering::input(size_t i) const {
  require(i < node_.inputs.size(), "it has {} inputs; number {} is needed", node_.inputs.size(), i);
  const auto found = builder_.values.find(node_.inputs[i]);
  require(found != builder_.values.end(), "its input {} is an output that its node does not bring", i);
  return found->second;
}

const Planned& Lowering::numbers(size_t i) const {
  const Planned& in = input(i);
  if (is_object(in.type)) throw Declined{fmt::format("input {} holds no numbers", i)};
  return in;
}

std::vector<int64_t> Lowering::integers(size_t i) const {
  const Planned& in = input(i);
  if (!in.literal) throw NeedsValue{i};
  std::vector<int64_t> out;
  const bool known = visit_dtype(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      out.assign(in.literal->as<T>(), in.literal->as<T>() + in.literal->count());
    else
      fail(Code::kNnInvalidParam, "input {} is {}; it must hold integers", i, in.dtype());
  });
  require(known, "input {} is {}; it must hold integers", i, in.dtype());
  return out;
}

void Lowering::decline(std::string reason) const { throw Declined{std::move(reason)}; }

const Object* Lowering::object_of(size_t i) const {
  const Planned& in = input(i);
  if (in.argument < 0) throw NeedsValue{i};
  return builder_.traits[static_cast<size_t>(in.argument)].object.get();
}

const Tensor& Lowering::variable(size_t i) const {
  const auto* variable = dynamic_cast<const Variable*>(object_of(i));
  if (variable == nullptr) throw Declined{"its variable is the client's"};
  if (variable->holds_object()) throw Declined{"its variable holds no numbers"};
  return builder_.traits[static_cast<size_t>(input(i).argument)].tensor;
}

Planned Lowering::make(size_t i, DType dtype, const Dims& shape) {
  Planned planned = builder_.memory(dtype, shape, SlotKind::kArena);
  builder_.set(i, planned);
  return planned;
}

void Lowering::alias(size_t i, Planned view) { builder_.set(i, std::move(view)); }

void Lowering::constant(size_t i, Literal literal) { builder_.set(i, builder_.constant(std::move(literal))); }

Planned Lowering::late(size_t i, DType dtype, const Dims& shape) {
  Planned planned = builder_.memory(dtype, shape, SlotKind::kLate);
  builder_.set(i, planned);
  return planned;
}

bool Lowering::shared(size_t i) const {
  const Edge edge = node_.inputs[i];
  return std::ranges::any_of(builder_.function->nodes, [&](const Node& node) {
    return &node != &node_ && !node.removed && std::ranges::find(node.inputs, edge) != node.inputs.end();
  });
}

Planned Lowering::object(size_t i) {
  Planned planned{node_.outputs[i].type, {}};
  Slot slot;
  slot.kind = SlotKind::kLate;
  planned.slot = builder_.add_slot(std::move(slot));
  builder_.set(i, planned);
  return planned;
}

Planned Lowering::dynamic(size_t i, DType dtype) {
  Planned planned = object(i);
  planned.type = ValueType::tensor(dtype);
  planned.dynamic = true;
  builder_.set(i, planned);
  end_plan();
  return planned;
}

Planned Lowering::unknown(size_t i) {
  const ValueType type = node_.outputs[i].type;
  return is_object(type) ? object(i) : dynamic(i, type.dtype);
}

void Lowering::end_plan() { builder_.ended = true; }

Planned Lowering::bring(DType dtype, const Dims& shape) { return builder_.memory(dtype, shape, SlotKind::kLate); }

Planned Lowering::scratch(DType dtype, const Dims& shape) { return builder_.memory(dtype, shape, SlotKind::kArena); }

Planned Lowering::given(Literal literal) { return builder_.constant(std::move(literal)); }

void Lowering::keep(const Planned& planned) { builder_.keep(planned); }

OperatorCall Lowering::call(std::string_view op) {
  Step step;
  step.node = builder_.shared_node();
  step.def = ops::find_operator(op);
  if (step.def == nullptr) fail(Code::kInternal, "there is no operator '{}'", op);
  builder_.plan.steps.push_back(std::move(step));
  return builder_.plan.steps.back();
}

size_t Lowering::lower_parts() {
  const size_t before = builder_.plan.steps.size();
  builder_.lower_parts(node_);
  return before;
}

std::vector<Step>& Lowering::steps() { return builder_.plan.steps; }

const Planned& Lowering::output(size_t i) const {
  return builder_.values.at({builder_.current, static_cast<int32_t>(i)});
}

std::vector<Planned> Lowering::inputs() const {
  std::vector<Planned> all;
  for (size_t i = 0; i < input_count(); ++i) all.push_back(input(i));
  return all;
}

void Lowering::run(std::vector<Planned> reads, const std::vector<Planned>& brings, std::function<void(Frame&)> body) {
  reads.insert(reads.end(), brings.begin(), brings.end());
  run(std::move(reads), std::move(body));
}

void Lowering::run(std::vector<Planned> used, std::function<void(Frame&)> body) {
  Step step;
  step.node = builder_.shared_node();
  step.body = std::move(body);
  for (const Planned& planned : used) step.uses.push_back(planned.slot);
  builder_.plan.steps.push_back(std::move(step));
}

}  // namespace npu::graph
