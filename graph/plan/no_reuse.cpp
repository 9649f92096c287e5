// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/no_reuse.h"

#include <algorithm>

#include "base/setting.h"
#include "base/split.h"
#include "graph/ir/ir_type.h"

namespace npu::graph {
namespace {

NPU_SETTING(std::string, names_apart, "OP_NO_REUSE_MEM", "",
            "Nodes whose outputs share memory with no others, by name or operator, joined by commas.");

bool named(std::string_view list, const Node& node) {
  return std::ranges::any_of(split(list, ","), [&](std::string_view name) {
    return name == node.name || name == node.client_name || is_called(node.op, name);
  });
}

}  // namespace

void keep_apart(Plan& plan) {
  if (!names_apart().empty()) keep_apart(plan, names_apart());
}

void keep_apart(Plan& plan, std::string_view names) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (!step.node || !named(names, *step.node)) continue;
    for (const SlotId id : step.uses) {
      Slot& slot = plan.slots[static_cast<size_t>(id)];
      if (slot.kind != SlotKind::kArena || slot.first != static_cast<int32_t>(i)) continue;
      slot.first = 0;
      slot.last = static_cast<int32_t>(plan.steps.size());
    }
  }
}

}  // namespace npu::graph
