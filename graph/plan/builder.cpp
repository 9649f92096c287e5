// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/builder.h"

#include "graph/value/room.h"

namespace npu::graph {
namespace {

Tensor as_view(DType dtype, const Dims& shape) { return make_tensor(nullptr, dtype, shape); }

}  // namespace

std::shared_ptr<const Node> PlanBuilder::shared_node() {
  if (!shared) {
    auto node = std::make_shared<Node>();
    const Node& from = (*function)[current];
    node->name = from.name, node->kind = from.kind, node->op = from.op;
    node->stand_for(from);
    node->parts = from.parts;
    shared = std::move(node);
  }
  return shared;
}

SlotId PlanBuilder::add_slot(Slot slot) {
  plan.slots.push_back(std::move(slot));
  return static_cast<SlotId>(plan.slots.size() - 1);
}

Planned PlanBuilder::memory(DType dtype, const Dims& shape, SlotKind kind) {
  Planned planned{ValueType::tensor(dtype), as_view(dtype, shape)};
  Slot slot;
  slot.kind = kind;
  slot.bytes = room_of(dtype, shape);
  planned.slot = add_slot(std::move(slot));
  return planned;
}

Planned PlanBuilder::constant(Literal literal) {
  Planned planned{literal.type, {}};
  if (!is_object(literal.type)) planned.view = as_view(literal.type.dtype, literal.shape);
  planned.literal = std::make_shared<const Literal>(std::move(literal));
  Slot slot;
  slot.kind = SlotKind::kConstant;
  slot.literal = planned.literal;
  planned.slot = add_slot(std::move(slot));
  return planned;
}

bool fills_slot(const Planned& planned, const Slot& slot) {
  return slot.kind == SlotKind::kArena && contiguous(planned) && bytes_of(planned.view) == slot.bytes;
}

void PlanBuilder::keep(const Planned& planned) {
  if (planned.slot < 0) return;
  Slot& slot = plan.slots[static_cast<size_t>(planned.slot)];
  if (!fills_slot(planned, slot)) return;
  slot.kind = SlotKind::kLate;
  slot.fresh = true;
}

}  // namespace npu::graph
