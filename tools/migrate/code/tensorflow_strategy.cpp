// SPDX-License-Identifier: Apache-2.0
// Optimizers that a script names by a text, in distributed training.
#include <algorithm>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

bool may_be_text(Migration& migration, Node value) {
  return std::ranges::any_of(migration.script.names().of(value), [](const Value& each) { return each.is_text(); });
}

/// compile(optimizer="adam"): nobody sees the optimizer that Keras makes of it.
bool optimizer_by_text(Migration& migration, const Rule& rule, Node call, size_t) {
  const Node value = Arguments(call).value(0, "optimizer");
  if (value && may_be_text(migration, value)) migration.ledger.note(rule, call, "manual", rule.message);
  return false;
}

const CodeEntry entry("optimizer_by_text", optimizer_by_text);

}  // namespace
}  // namespace npu::migrate
