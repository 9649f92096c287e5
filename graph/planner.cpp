// SPDX-License-Identifier: Apache-2.0
#include "graph/planner.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "device/state.h"
#include "graph/binding.h"
#include "graph/executable.h"
#include "graph/no_reuse.h"
#include "graph/node_error.h"
#include "graph/passes/pass.h"
#include "graph/report.h"
#include "graph/saturation.h"
#include "graph/tensor_list.h"
#include "graph/unfuse.h"

namespace npu::graph {
namespace {

/// Constants up to this size are computed while planning; larger ones (a filled matrix) are cheaper to make in the run
/// than to keep.
constexpr int64_t kLargestFolded = 1 << 16;

Tensor as_view(DType dtype, const Dims& shape) { return make_tensor(nullptr, dtype, shape); }

int64_t bytes_of(const Tensor& view) { return view.count() * static_cast<int64_t>(size_of(view.dtype)); }

}  // namespace

Planner::Planner(const Function& function, Library& library, std::span<const ArgumentTraits> arguments)
    : f_(&function), library_(library), traits_(arguments) {
  if (device::saturates(library.device())) unfuse(-1);  // what each node computes is brought into range
}

std::shared_ptr<const Node> Planner::shared_node() {
  if (!shared_) {
    auto node = std::make_shared<Node>();
    const Node& from = (*f_)[current_];
    node->name = from.name, node->op = from.op, node->client_name = from.client_name, node->functions = from.functions;
    shared_ = std::move(node);
  }
  return shared_;
}

SlotId Planner::add_slot(Slot slot) {
  plan_.slots.push_back(std::move(slot));
  return static_cast<SlotId>(plan_.slots.size() - 1);
}

Planned Planner::memory(DType dtype, const Dims& shape, SlotKind kind) {
  Planned planned{ValueType::tensor(dtype), as_view(dtype, shape)};
  Slot slot;
  slot.kind = kind;
  slot.bytes = bytes_of(planned.view);
  planned.slot = add_slot(std::move(slot));
  return planned;
}

Planned Planner::constant(Literal literal) {
  Planned planned{literal.type, {}};
  if (!is_object(literal.type)) planned.view = as_view(literal.type.dtype, literal.shape);
  planned.literal = std::make_shared<const Literal>(std::move(literal));
  Slot slot;
  slot.kind = SlotKind::kConstant;
  slot.literal = planned.literal;
  planned.slot = add_slot(std::move(slot));
  return planned;
}

void Planner::set(size_t output, Planned planned) {
  values_[{current_, static_cast<int32_t>(output)}] = std::move(planned);
}

void Planner::add_argument(const Argument& argument, const ArgumentTraits& traits, size_t index) {
  Planned planned = traits.literal ? constant(*traits.literal) : Planned{traits.type};
  if (!traits.literal) {
    // Late slots begin at the first element of whatever view comes.
    if (!is_object(traits.type)) planned.view = as_view(traits.tensor.dtype, traits.tensor.shape);
    Slot slot;
    slot.kind = SlotKind::kLate;
    planned.slot = add_slot(std::move(slot));
  }
  planned.argument = static_cast<int32_t>(index);
  if (const auto* list = dynamic_cast<const TensorList*>(traits.object.get()))
    planned.list = std::make_shared<const ListType>(list->type);
  plan_.arguments.push_back(planned);
  values_[{argument.node, 0}] = std::move(planned);
}

void Planner::unfuse(NodeId only) {
  unfused_ = std::make_unique<Function>(unfused(*f_, only));
  f_ = unfused_.get();
}

/// A fused node that cannot be lowered whole, for its shapes or because they do not fit, gives way to its parts, and
/// what is wrong is told of the part.
Plan Planner::make() {
  while (true) {
    try {
      return make_once();
    } catch (const Unfused& fused) {
      library_.report().unfused(f_->name, (*f_)[current_], fused.reason);
      unfuse(current_);
      plan_ = {}, values_.clear();
      shared_ = nullptr, ended_ = false;
    }
  }
}

Plan Planner::make_once() {
  plan_.function = client_name(f_->name);
  require(traits_.size() == f_->arguments.size(), "function {} takes {} arguments; {} are given", f_->name,
          f_->arguments.size(), traits_.size());
  for (size_t i = 0; i < traits_.size(); ++i) add_argument(f_->arguments[i], traits_[i], i);
  const std::vector<NodeId> order = f_->order();
  size_t next = 0;
  while (!ended_ && next < order.size() && lower(order[next])) ++next;
  if (next < order.size())
    split(std::span(order).subspan(next));
  else
    finish_results();
  find_lifetimes();
  keep_apart(plan_);
  share_slots(plan_);
  place_slots(plan_);
  return std::move(plan_);
}

bool Planner::lower(NodeId id) {
  const Node& node = (*f_)[id];
  if (node.op == kind::kArgument) return true;
  current_ = id;
  shared_ = nullptr;
  const size_t first_step = plan_.steps.size(), first_slot = plan_.slots.size();
  const auto undo = [&] {
    plan_.steps.resize(first_step);
    plan_.slots.resize(first_slot);
  };
  try {
    lower_by_kind(node);
    fold(id, first_step, first_slot);
    return true;
  } catch (const NeedsValue& need) {
    undo();
    const Planned& input = values_.at(node.inputs[need.input]);
    if (input.argument < 0 || is_object(input.type)) return false;
    const auto argument = static_cast<size_t>(input.argument);
    if (!traits_[argument].too_long) throw NeedsArgumentValue{argument};
    at_node(node, [&] { lower_on_host(node, "its shapes depend on a value too long to make plans for"); });
    return true;
  } catch (const Declined& declined) {
    if (node.parts) throw Unfused{declined.reason};
    undo();
    at_node(node, [&] { lower_on_host(node, declined.reason); });
    return true;
  } catch (const Error& e) {
    if (node.parts) throw Unfused{e.message()};
    throw NodeError(e, node);
  }
}

void Planner::lower_by_kind(const Node& node) {
  if (node.op == kind::kConstant) {
    const auto& literal = node.attributes.get<Literal>("value");
    return set(0, constant(literal));
  }
  const bool lists = !node.inputs.empty() && values_.at(node.inputs.front()).list;
  const NodeKind* kind = lists ? find_list_kind(node.op) : nullptr;
  if (kind == nullptr) kind = find_kind(node.op);
  if (kind == nullptr) throw Declined{"there is no kernel of it"};
  Lowering lowering(*this, node, kind->target);
  kind->lower(lowering);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!values_.contains({current_, static_cast<int32_t>(i)}))
      fail(Code::kInternal, "its kernel brings no output {}", i);
  }
}

/// The parts of a fused node as if they stood in the function themselves.
void Planner::lower_parts(const Node& node) {
  const Function& parts = *node.parts;
  std::map<Edge, Planned> values;
  for (size_t i = 0; i < parts.arguments.size(); ++i) values[{parts.arguments[i].node, 0}] = values_.at(node.inputs[i]);
  const Function* const outer = std::exchange(f_, &parts);
  const NodeId whole = current_;
  std::swap(values, values_);
  const auto back = [&] {
    f_ = outer, current_ = whole, shared_ = nullptr;
    std::swap(values, values_);
  };
  try {
    for (const NodeId id : parts.order()) {
      if (parts[id].op == kind::kArgument) continue;
      current_ = id, shared_ = nullptr;
      lower_by_kind(parts[id]);
    }
  } catch (const NeedsValue&) {
    back();
    throw Declined{"a shape is known in the run only"};
  } catch (...) {
    back();
    throw;
  }
  back();
  for (size_t i = 0; i < parts.results.size(); ++i) set(i, values.at(parts.results[i].value));
}

void Planner::lower_on_host(const Node& node, const std::string& reason) {
  if (!library_.host()) {
    fail(Code::kOpNotFound, "{}, and no client is there to run it instead", reason);
  }
  ++plan_.host_nodes;
  Lowering l(*this, node);
  const std::vector<Planned> inputs = l.inputs();
  std::vector<Planned> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) outputs.push_back(l.unknown(i));
  l.run(inputs, outputs, [node, inputs, outputs, reason, function = f_->name](Frame& frame) {
    std::vector<Value> values;
    for (const Planned& input : inputs) values.push_back(frame.value(input));
    std::vector<Value> results = frame.library().host()(node, values);
    saturate_from_host(frame.library().device(), values, results);
    frame.library().report().ran_on_host(function, node, reason, values, results);
    require(results.size() == outputs.size(), "the client gave {} values for {} outputs", results.size(),
            outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) frame.set(outputs[i], std::move(results[i]));
  });
}

bool Planner::foldable(const Node& node, size_t first_step) const {
  if (node.stateful || node.op == kind::kConstant) return false;
  for (const Edge& edge : node.inputs)
    if (!values_.at(edge).literal) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Planned& out = values_.at({current_, static_cast<int32_t>(i)});
    if (out.literal || is_object(out.type) || out.dynamic || bytes_of(out.view) > kLargestFolded || !contiguous(out))
      return false;
  }
  return std::all_of(plan_.steps.begin() + static_cast<int64_t>(first_step), plan_.steps.end(),
                     [](const Step& step) { return step.def != nullptr; });
}

/// Runs the steps a node of constants was lowered to, and takes them out of the plan again. What overflows on a device
/// that saturates stays, for the run to tell.
void Planner::fold(NodeId id, size_t first_step, size_t first_slot) {
  const Node& node = (*f_)[id];
  if (node.outputs.empty() || !foldable(node, first_step)) return;
  std::vector<std::vector<std::byte>> memory(plan_.slots.size() - first_slot);
  for (size_t i = 0; i < memory.size(); ++i) memory[i].resize(static_cast<size_t>(plan_.slots[first_slot + i].bytes));
  const auto address = [&](const Planned& planned) -> void* {
    const auto slot = static_cast<size_t>(planned.slot);
    if (plan_.slots[slot].literal) return const_cast<std::byte*>(plan_.slots[slot].literal->bytes->data());
    return memory[slot - first_slot].data();
  };
  for (size_t i = first_step; i < plan_.steps.size(); ++i) {
    const auto op = make_operator(plan_.steps[i]);
    bind_tensors(*op, plan_.steps[i], address);
    op->prepare();
    op->run();
    if (device::saturates(library_.device()) && ops::results_overflow(*op)) return;
  }
  std::vector<Literal> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Planned& out = values_.at({id, static_cast<int32_t>(i)});
    const auto* from =
        static_cast<const std::byte*>(address(out)) + out.view.offset * static_cast<int64_t>(size_of(out.dtype()));
    results.push_back({out.type, out.shape(),
                       std::make_shared<const std::vector<std::byte>>(from, from + bytes_of(out.view)), nullptr});
  }
  plan_.steps.resize(first_step);
  plan_.slots.resize(first_slot);
  for (size_t i = 0; i < results.size(); ++i) set(i, constant(std::move(results[i])));
}

/// The nodes not lowered become a function of their own, called with what they need of those that were.
void Planner::split(std::span<const NodeId> order) {
  Function rest(f_->name);
  std::map<Edge, Edge> edges;
  std::map<NodeId, NodeId> nodes;
  const auto mapped = [&](Edge edge) {
    if (const auto at = edges.find(edge); at != edges.end()) return at->second;
    const Planned& planned = values_.at(edge);
    const std::string name = fmt::format("{}:{}", (*f_)[edge.node].name, edge.output);
    Edge to;
    if (planned.literal) {
      to = {rest.add_constant(name, *planned.literal), 0};
    } else {
      to = {rest.add_argument(name, {planned.type, {}}), 0};
      plan_.rest_arguments.push_back(planned);
      keep(planned);
    }
    edges[edge] = to;
    return to;
  };
  for (const NodeId id : order) {
    if ((*f_)[id].op == kind::kArgument) continue;
    Node node = (*f_)[id];
    for (Edge& edge : node.inputs) edge = mapped(edge);
    node.after.clear();
    for (const NodeId before : (*f_)[id].after)
      if (const auto at = nodes.find(before); at != nodes.end()) node.after.push_back(at->second);
    const NodeId added = rest.add(std::move(node));
    nodes[id] = added;
    for (size_t i = 0; i < (*f_)[id].outputs.size(); ++i)
      edges[{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
  }
  for (const Result& result : f_->results) rest.results.push_back({result.name, mapped(result.value)});
  for (const NodeId id : f_->control_results)
    if (const auto at = nodes.find(id); at != nodes.end()) rest.control_results.push_back(at->second);
  plan_.rest = std::make_shared<Executable>(std::move(rest), library_, true);
}

void Planner::keep(const Planned& planned) {
  if (planned.slot < 0) return;
  Slot& slot = plan_.slots[static_cast<size_t>(planned.slot)];
  if (slot.kind != SlotKind::kArena || !contiguous(planned) || bytes_of(planned.view) != slot.bytes) return;
  slot.kind = SlotKind::kLate;
  slot.fresh = true;
}

/// Results that fill memory of the frame get memory of their own instead, so that nothing is copied at the end.
void Planner::finish_results() {
  for (const Result& result : f_->results) {
    Planned planned = values_.at(result.value);
    if (planned.slot >= 0) {
      Slot& slot = plan_.slots[static_cast<size_t>(planned.slot)];
      if (slot.kind == SlotKind::kArena && contiguous(planned) && bytes_of(planned.view) == slot.bytes) {
        slot.kind = SlotKind::kLate;
        slot.result = true;
      }
    }
    plan_.results.push_back(std::move(planned));
  }
}

void Planner::find_lifetimes() {
  plan_.users.resize(plan_.slots.size());
  const auto use = [&](SlotId id, size_t step) {
    Slot& slot = plan_.slots[static_cast<size_t>(id)];
    if (slot.first < 0) slot.first = static_cast<int32_t>(step);
    slot.last = static_cast<int32_t>(step);
  };
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    for (const SlotId id : plan_.steps[i].uses) use(id, i);
    if (plan_.steps[i].def == nullptr) continue;
    for (const SlotId id : std::set<SlotId>(plan_.steps[i].uses.begin(), plan_.steps[i].uses.end()))
      if (plan_.slots[static_cast<size_t>(id)].kind == SlotKind::kLate)
        plan_.users[static_cast<size_t>(id)].push_back(static_cast<int32_t>(i));
  }
  std::set<SlotId> kept;
  for (const auto* list : {&plan_.results, &plan_.rest_arguments})
    for (const Planned& planned : *list) {
      kept.insert(planned.slot);
      use(planned.slot, plan_.steps.size());
    }
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    Slot& slot = plan_.slots[i];
    slot.result |= slot.fresh && std::cmp_equal(slot.first, plan_.steps.size());  // no step writes it
    if (slot.fresh && slot.first >= 0 && !slot.result)
      plan_.steps[static_cast<size_t>(slot.first)].fresh.push_back(static_cast<SlotId>(i));
    if (slot.kind == SlotKind::kLate && slot.last >= 0 && !kept.contains(static_cast<SlotId>(i)))
      plan_.steps[static_cast<size_t>(slot.last)].done.push_back(static_cast<SlotId>(i));
  }
}

}  // namespace npu::graph
