// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/planner.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "device/context/state.h"
#include "device/process/soc.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/node_error.h"
#include "graph/passes/pass.h"
#include "graph/passes/pattern/unfuse.h"
#include "graph/plan/binding.h"
#include "graph/plan/lowering.h"
#include "graph/plan/no_reuse.h"
#include "graph/plan/refusal.h"
#include "graph/value/tensor_list.h"
#include "ops/runner/overflow.h"
#include "ops/soc_type.h"

namespace npu::graph {
namespace {

/// Constants up to this size are computed while planning; larger ones (a filled matrix) are cheaper to make in the run
/// than to keep. Casts are none of those: what they convert are weights, and every run would convert them again.
constexpr int64_t kLargestFolded = 1 << 16;

bool converts(const Node& node) { return node.kind == Kind::kCast; }

}  // namespace

Planner::Planner(const Function& function, Surroundings& surroundings, std::span<const ArgumentTraits> arguments)
    : builder_(function, surroundings, arguments) {
  builder_.lower_parts = [this](const Node& node) { lower_parts(node); };
  if (device::saturates(surroundings.device())) unfuse({});  // what each node computes is brought into range
}

void Planner::add_argument(const Argument& argument, const ArgumentTraits& traits, size_t index) {
  Planned planned = traits.literal ? builder_.constant(*traits.literal) : Planned{traits.type};
  if (!traits.literal) {
    // Late slots begin at the first element of whatever view comes.
    if (!is_object(traits.type)) planned.view = make_tensor(nullptr, traits.tensor.dtype, traits.tensor.shape);
    Slot slot;
    slot.kind = SlotKind::kLate;
    planned.slot = builder_.add_slot(std::move(slot));
  }
  planned.argument = static_cast<int32_t>(index);
  if (const auto* list = dynamic_cast<const TensorList*>(traits.object.get()))
    planned.list = std::make_shared<const ListType>(list->type);
  builder_.plan.arguments.push_back(planned);
  builder_.values[{argument.node, 0}] = std::move(planned);
}

/// These nodes give way to their parts, or all where none is named; then planning begins again.
void Planner::unfuse(const std::vector<NodeId>& only) {
  unfused_ = std::make_unique<Function>(unfused(*builder_.function, only));
  builder_.function = unfused_.get();
  builder_.plan = {}, builder_.values.clear();
  builder_.ended = false;
  apart_.clear();
}

/// Another plan is made at the end where the parts are faster: then it is known of all nodes.
void Planner::ask_for_parts(const Node& node) {
  std::vector<Planned> inputs;
  for (const Edge& edge : node.inputs) inputs.push_back(builder_.values.at(edge));
  if (builder_.surroundings.prefers_parts(node, inputs)) apart_.push_back(builder_.current);
}

/// A fused node that cannot be lowered whole, for its shapes or because they do not fit, gives way to its parts, and
/// what is wrong is told of the part.
Plan Planner::make() {
  while (true) {
    try {
      Plan plan = make_once();
      if (apart_.empty()) return plan;
      unfuse(apart_);
    } catch (const Unfused& fused) {
      builder_.surroundings.unfused(builder_.function->name, (*builder_.function)[builder_.current], fused.reason);
      unfuse({builder_.current});
    }
  }
}

Plan Planner::make_once() {
  builder_.plan.function = client_name(builder_.function->name);
  require(builder_.traits.size() == builder_.function->arguments.size(), "function {} takes {} arguments; {} are given",
          builder_.function->name, builder_.function->arguments.size(), builder_.traits.size());
  for (size_t i = 0; i < builder_.traits.size(); ++i)
    add_argument(builder_.function->arguments[i], builder_.traits[i], i);
  const std::vector<NodeId> order = builder_.function->order();
  size_t next = 0;
  while (!builder_.ended && next < order.size() && lower(order[next])) ++next;
  if (next < order.size())
    split(std::span(order).subspan(next));
  else
    finish_results();
  find_lifetimes();
  keep_apart(builder_.plan);
  share_slots(builder_.plan);
  pack_slots(builder_.plan);
  if (builder_.surroundings.overlaps()) run_aside(builder_.plan);
  place_slots(builder_.plan);
  return std::move(builder_.plan);
}

bool Planner::lower(NodeId id) {
  const Node& node = (*builder_.function)[id];
  if (node.kind == Kind::kArgument) return true;
  builder_.go_to(id);
  const size_t first_step = builder_.plan.steps.size(), first_slot = builder_.plan.slots.size();
  const auto undo = [&] {
    builder_.plan.steps.resize(first_step);
    builder_.plan.slots.resize(first_slot);
  };
  try {
    if (node.parts) ask_for_parts(node);
    lower_by_meaning(node);
    check_types(node, first_step);
    fold(id, first_step, first_slot);
    show_to_observers(node, first_step);
    return true;
  } catch (const NeedsValue& need) {
    undo();
    const Planned& input = builder_.values.at(node.inputs[need.input]);
    if (input.argument < 0 || is_object(input.type)) return false;
    const auto argument = static_cast<size_t>(input.argument);
    if (builder_.traits[argument].literal) return false;  // a view of it that is no constant, as a transposed one
    if (!builder_.traits[argument].too_long) throw NeedsArgumentValue{argument};
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

void Planner::lower_by_meaning(const Node& node) {
  if (node.kind == Kind::kConstant) {
    const auto& literal = node.attributes.get<Literal>("value");
    return builder_.set(0, builder_.constant(literal));
  }
  const bool lists = !node.inputs.empty() && builder_.values.at(node.inputs.front()).list;
  const Meaning* meaning = lists ? find_list_meaning(node.type()) : nullptr;
  if (meaning == nullptr) meaning = find_meaning(node.type());
  if (meaning == nullptr)
    throw Declined{node.op.starts_with(kOnHost) ? "the program wants it on the host" : "there is no kernel of it"};
  Lowering lowering(builder_, node, meaning->target);
  meaning->lower(lowering);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!builder_.values.contains({builder_.current, static_cast<int32_t>(i)}))
      fail(Code::kInternal, "its kernel brings no output {}", i);
  }
}

/// The SoC must have the types that the kernels of a node read and write.
void Planner::check_types(const Node& node, size_t first_step) const {
  if (device::soc().lacks == 0) return;
  for (size_t i = first_step; i < builder_.plan.steps.size(); ++i)
    for (const TensorField& field : builder_.plan.steps[i].tensors)
      for (const Planned& each : field.values)
        if (!device::soc().has(each.dtype()))
          ops::refuse_type(each.dtype(), fmt::format("its {} is {}", field.field->name, name_of(each.dtype())), node.op,
                           Code::kNnInvalidParam);
}

void Planner::show_to_observers(const Node& node, size_t first_step) {
  const size_t end = builder_.plan.steps.size();
  if (end == first_step || node.kind == Kind::kRead || as_call(node)) return;
  PlannedNode planned;
  planned.node = builder_.shared_node();
  planned.first = static_cast<int32_t>(first_step), planned.end = static_cast<int32_t>(end);
  if (node.parts)
    for (const Node* part : origins(node)) planned.origins.push_back(part->client_name);
  for (const Edge& edge : node.inputs) planned.inputs.push_back(builder_.values.at(edge));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    planned.outputs.push_back(builder_.values.at({builder_.current, static_cast<int32_t>(i)}));
  builder_.plan.nodes.push_back(std::move(planned));
}

/// The parts of a fused node as if they stood in the function themselves.
void Planner::lower_parts(const Node& node) {
  const Function& parts = *node.parts;
  std::map<Edge, Planned> values;
  for (size_t i = 0; i < parts.arguments.size(); ++i)
    values[{parts.arguments[i].node, 0}] = builder_.values.at(node.inputs[i]);
  const Function* const outer = std::exchange(builder_.function, &parts);
  const NodeId whole = builder_.current;
  std::swap(values, builder_.values);
  const auto back = [&] {
    builder_.function = outer, builder_.go_to(whole);
    std::swap(values, builder_.values);
  };
  try {
    for (const NodeId id : parts.order()) {
      if (parts[id].kind == Kind::kArgument) continue;
      builder_.go_to(id);
      lower_by_meaning(parts[id]);
    }
  } catch (const NeedsValue&) {
    back();
    throw Declined{"a shape is known in the run only"};
  } catch (...) {
    back();
    throw;
  }
  back();
  for (size_t i = 0; i < parts.results.size(); ++i) builder_.set(i, values.at(parts.results[i].value));
}

void Planner::lower_on_host(const Node& node, const std::string& reason) {
  Lowering l(builder_, node);
  HostStep step{node, builder_.function->name, reason, l.inputs(), {}};
  for (size_t i = 0; i < node.outputs.size(); ++i) step.outputs.push_back(l.unknown(i));
  const std::vector<Planned> inputs = step.inputs, outputs = step.outputs;
  std::function<void(Frame&)> body = builder_.surroundings.on_host(std::move(step));
  if (!body) fail(Code::kOpNotFound, "{}, and no client is there to run it instead", reason);
  ++builder_.plan.host_nodes;
  l.run(inputs, outputs, std::move(body));
}

bool Planner::foldable(const Node& node, size_t first_step) const {
  if (node.stateful || node.kind == Kind::kConstant) return false;
  for (const Edge& edge : node.inputs)
    if (!builder_.values.at(edge).literal) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Planned& out = builder_.values.at({builder_.current, static_cast<int32_t>(i)});
    if (out.literal || is_object(out.type) || out.dynamic || !contiguous(out)) return false;
    if (bytes_of(out.view) > kLargestFolded && !converts(node)) return false;
  }
  return std::all_of(builder_.plan.steps.begin() + static_cast<int64_t>(first_step), builder_.plan.steps.end(),
                     [](const Step& step) { return step.def != nullptr; });
}

/// Takes the steps of a node of constants out of the plan again. What overflows on a device that saturates stays, for
/// the run to tell.
void Planner::fold(NodeId id, size_t first_step, size_t first_slot) {
  const Node& node = (*builder_.function)[id];
  if (node.outputs.empty() || !foldable(node, first_step)) return;
  std::vector<Literal> results =
      converts(node) ? conversion(id, first_step, first_slot) : folded(id, first_step, first_slot);
  if (results.empty()) return;
  builder_.plan.steps.resize(first_step);
  builder_.plan.slots.resize(first_slot);
  for (size_t i = 0; i < results.size(); ++i) builder_.set(i, builder_.constant(std::move(results[i])));
}

/// What a cast gives: of large constants that which other plans have, too.
std::vector<Literal> Planner::conversion(NodeId id, size_t first_step, size_t first_slot) {
  const Planned& out = builder_.values.at({id, 0});
  if (bytes_of(out.view) <= kLargestFolded) return folded(id, first_step, first_slot);
  const Literal from = *builder_.values.at((*builder_.function)[id].inputs.front()).literal;
  if (const auto found = builder_.surroundings.converted(from, out.dtype())) return {*found};
  std::vector<Literal> results = folded(id, first_step, first_slot);
  if (!results.empty()) builder_.surroundings.keep_converted(from, results.front());
  return results;
}

/// Runs the steps a node of constants was lowered to. Nothing where the device tells of an overflow.
std::vector<Literal> Planner::folded(NodeId id, size_t first_step, size_t first_slot) const {
  const Node& node = (*builder_.function)[id];
  std::vector<std::vector<std::byte>> memory(builder_.plan.slots.size() - first_slot);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i].resize(static_cast<size_t>(builder_.plan.slots[first_slot + i].bytes));
  const auto address = [&](const Planned& planned) -> void* {
    const auto slot = static_cast<size_t>(planned.slot);
    if (builder_.plan.slots[slot].literal)
      return const_cast<std::byte*>(builder_.plan.slots[slot].literal->bytes->data());
    return memory[slot - first_slot].data();
  };
  for (size_t i = first_step; i < builder_.plan.steps.size(); ++i) {
    const auto op = make_operator(builder_.plan.steps[i]);
    bind_tensors(*op, builder_.plan.steps[i], address);
    op->prepare();
    op->run();
    if (device::saturates(builder_.surroundings.device()) && ops::results_overflow(*op)) return {};
  }
  std::vector<Literal> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Planned& out = builder_.values.at({id, static_cast<int32_t>(i)});
    const auto* from =
        static_cast<const std::byte*>(address(out)) + out.view.offset * static_cast<int64_t>(size_of(out.dtype()));
    results.push_back({out.type, out.shape(),
                       std::make_shared<const std::vector<std::byte>>(from, from + bytes_of(out.view)), nullptr});
  }
  return results;
}

/// The nodes not lowered become a function of their own, called with what they need of those that were.
void Planner::split(std::span<const NodeId> order) {
  Function rest(builder_.function->name, *builder_.function->dialect);
  std::map<Edge, Edge> edges;
  std::map<NodeId, NodeId> nodes;
  const auto mapped = [&](Edge edge) {
    if (const auto at = edges.find(edge); at != edges.end()) return at->second;
    const Planned& planned = builder_.values.at(edge);
    const std::string name = fmt::format("{}:{}", (*builder_.function)[edge.node].name, edge.output);
    Edge to;
    if (planned.literal) {
      to = {rest.add_constant(name, *planned.literal), 0};
    } else {
      to = {rest.add_argument(name, {planned.type, {}}), 0};
      builder_.plan.rest_arguments.push_back(planned);
      builder_.keep(planned);
    }
    edges[edge] = to;
    return to;
  };
  for (const NodeId id : order) {
    if ((*builder_.function)[id].kind == Kind::kArgument) continue;
    Node node = (*builder_.function)[id];
    for (Edge& edge : node.inputs) edge = mapped(edge);
    node.after.clear();
    for (const NodeId before : (*builder_.function)[id].after)
      if (const auto at = nodes.find(before); at != nodes.end()) node.after.push_back(at->second);
    const NodeId added = rest.add(std::move(node));
    nodes[id] = added;
    for (size_t i = 0; i < (*builder_.function)[id].outputs.size(); ++i)
      edges[{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
  }
  for (const Result& result : builder_.function->results) rest.results.push_back({result.name, mapped(result.value)});
  for (const NodeId id : builder_.function->control_results)
    if (const auto at = nodes.find(id); at != nodes.end()) rest.control_results.push_back(at->second);
  builder_.plan.rest = std::make_shared<const Function>(std::move(rest));
}

/// Results that fill memory of the frame get memory of their own instead, so that nothing is copied at the end.
void Planner::finish_results() {
  for (const Result& result : builder_.function->results) {
    Planned planned = builder_.values.at(result.value);
    if (planned.slot >= 0) {
      Slot& slot = builder_.plan.slots[static_cast<size_t>(planned.slot)];
      if (fills_slot(planned, slot)) {
        slot.kind = SlotKind::kLate;
        slot.result = true;
      }
    }
    builder_.plan.results.push_back(std::move(planned));
  }
}

void Planner::find_lifetimes() {
  builder_.plan.users.resize(builder_.plan.slots.size());
  const auto use = [&](SlotId id, size_t step) {
    Slot& slot = builder_.plan.slots[static_cast<size_t>(id)];
    if (slot.first < 0) slot.first = static_cast<int32_t>(step);
    slot.last = static_cast<int32_t>(step);
  };
  for (size_t i = 0; i < builder_.plan.steps.size(); ++i) {
    for (const SlotId id : builder_.plan.steps[i].uses) use(id, i);
    if (builder_.plan.steps[i].def == nullptr) continue;
    for (const SlotId id : std::set<SlotId>(builder_.plan.steps[i].uses.begin(), builder_.plan.steps[i].uses.end()))
      if (builder_.plan.slots[static_cast<size_t>(id)].kind == SlotKind::kLate)
        builder_.plan.users[static_cast<size_t>(id)].push_back(static_cast<int32_t>(i));
  }
  // Observers look at a node's outputs when it is done: what nobody reads lives until then.
  for (const PlannedNode& node : builder_.plan.nodes)
    for (const Planned& output : node.outputs) {
      if (output.slot < 0) continue;
      Slot& slot = builder_.plan.slots[static_cast<size_t>(output.slot)];
      if (slot.first >= 0) slot.last = std::max(slot.last, node.end - 1);
    }
  std::set<SlotId> kept;
  for (const auto* list : {&builder_.plan.results, &builder_.plan.rest_arguments})
    for (const Planned& planned : *list) {
      kept.insert(planned.slot);
      use(planned.slot, builder_.plan.steps.size());
    }
  for (size_t i = 0; i < builder_.plan.slots.size(); ++i) {
    Slot& slot = builder_.plan.slots[i];
    slot.result |= slot.fresh && std::cmp_equal(slot.first, builder_.plan.steps.size());  // no step writes it
    if (slot.fresh && slot.first >= 0 && !slot.result)
      builder_.plan.steps[static_cast<size_t>(slot.first)].fresh.push_back(static_cast<SlotId>(i));
    if (slot.kind == SlotKind::kLate && slot.last >= 0 && !kept.contains(static_cast<SlotId>(i)))
      builder_.plan.steps[static_cast<size_t>(slot.last)].done.push_back(static_cast<SlotId>(i));
  }
}

}  // namespace npu::graph
