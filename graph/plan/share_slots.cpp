// SPDX-License-Identifier: Apache-2.0
// Work in place: an operator that reads each element before it writes that element may write over an input that nobody
// needs afterwards. Chains then stay in one piece of memory, and so in the caches.
#include <algorithm>

#include "graph/plan/builder.h"
#include "graph/plan/shared_slot.h"

namespace npu::graph {
namespace {

bool is_output(const TensorField& field) {
  return field.field->role == ops::FieldRole::kOut || field.field->role == ops::FieldRole::kOptionalOut;
}

/// The input whose memory the step's output `out` may take, or null.
const Planned* dying_input(const Plan& plan, const Step& step, const Planned& out) {
  const auto now = plan.slots[static_cast<size_t>(out.slot)].first;
  for (const TensorField& field : step.tensors) {
    const Planned& in = field.values.front();
    if (is_output(field) || !fills_slot(in, plan.slots[static_cast<size_t>(in.slot)]) || in.slot == out.slot) continue;
    if (in.dtype() != out.dtype() || !(in.shape() == out.shape()) || in.view.strides != out.view.strides) continue;
    if (plan.slots[static_cast<size_t>(root_of(plan, in.slot))].last != now) continue;
    // Another view of the same memory, say a transposed one, would be overwritten before it is read.
    const bool alone = std::all_of(step.tensors.begin(), step.tensors.end(), [&](const TensorField& other) {
      return other.values.front().slot != in.slot || other.values.front().view.strides == in.view.strides;
    });
    if (alone) return &in;
  }
  return nullptr;
}

}  // namespace

void share_slots(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.def == nullptr || !step.def->is(ops::kPointwise)) continue;
    for (const TensorField& field : step.tensors) {
      const Planned& out = field.values.front();
      if (!is_output(field)) continue;
      Slot& slot = plan.slots[static_cast<size_t>(out.slot)];
      if (!fills_slot(out, slot) || slot.first != static_cast<int32_t>(i) || slot.shares >= 0) continue;
      const Planned* in = dying_input(plan, step, out);
      if (in == nullptr) continue;
      slot.shares = root_of(plan, in->slot);
      Slot& root = plan.slots[static_cast<size_t>(slot.shares)];
      root.last = std::max(root.last, slot.last);
    }
  }
}

}  // namespace npu::graph
