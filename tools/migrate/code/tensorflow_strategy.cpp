// SPDX-License-Identifier: Apache-2.0
// Distributed training: optimizers that a script names by a text, data sets that nobody shards.
#include <algorithm>
#include <array>

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

/// Whether the file gives a process its part of some data set.
bool shards(const Tree& tree) {
  static constexpr auto kSharding = std::to_array<std::string_view>(
      {"shard", "shard_and_rebatch_dataset", "experimental_distribute_dataset", "distribute_datasets_from_function"});
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (!tree.node(i).is(Kind::k_call)) continue;
    const std::string_view callee = tree.node(i).child(Field::k_function).text();
    if (std::ranges::find(kSharding, callee.substr(callee.rfind('.') + 1)) != kSharding.end()) return true;
  }
  return false;
}

/// fit(dataset): once it is one of several processes, all of them would train on all of it.
bool unsharded_fit(Migration& migration, const Rule& rule, Node call, size_t) {
  const Node value = Arguments(call).value(0, "x");
  const auto is_data = [](const Value& each) { return each.is("tensorflow.data.Dataset()"); };
  if (value && std::ranges::any_of(migration.script.names().of(value), is_data) && !shards(migration.script.tree()))
    migration.ledger.note(rule, call, "manual", rule.message);
  return false;  // the row is its own
}

const CodeEntry kByText("optimizer_by_text", optimizer_by_text), kUnsharded("unsharded_fit", unsharded_fit);

}  // namespace
}  // namespace npu::migrate
