// SPDX-License-Identifier: Apache-2.0
// Keras 2.15's optimizers are new ones; those of 2.6 are below `legacy`. Who needs what only the old ones have gets
// them.
#include <algorithm>
#include <array>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// Members of old optimizers that new ones lack (compared on TensorFlow 2.15.1).
constexpr std::array kOldMembers = std::to_array<std::string_view>({"_aggregate_gradients",
                                                                    "_compute_gradients",
                                                                    "_create_all_weights",
                                                                    "_create_hypers",
                                                                    "_create_slots",
                                                                    "_decayed_lr",
                                                                    "_distribution_strategy_scope",
                                                                    "_get_hyper",
                                                                    "_hyper",
                                                                    "_initial_decay",
                                                                    "_prepare",
                                                                    "_prepare_local",
                                                                    "_resource_apply_dense",
                                                                    "_resource_apply_sparse",
                                                                    "_set_hyper",
                                                                    "_transform_unaggregated_gradients",
                                                                    "_use_locking",
                                                                    "add_slot",
                                                                    "add_weight",
                                                                    "decay",
                                                                    "get_gradients",
                                                                    "get_slot",
                                                                    "get_slot_names",
                                                                    "get_updates",
                                                                    "get_weights",
                                                                    "gradient_transformers",
                                                                    "weights"});

bool is_old(std::string_view member) { return std::ranges::find(kOldMembers, member) != kOldMembers.end(); }

/// How code at `node` can spell the module of optimizers: by a name that surely is TensorFlow or Keras there.
std::string spelled_optimizers(Migration& migration, Node node, size_t change) {
  const auto means = [&](std::string_view name, std::string_view dotted) {
    const auto bindings = migration.script.names().table().reaching(name, node);
    return !bindings.empty() && std::ranges::all_of(bindings, [&](const Binding* binding) {
      return binding->how == Binding::How::kImport && binding->level == 0 && binding->dotted == dotted;
    });
  };
  if (means("tf", "tensorflow")) return "tf.keras.optimizers";
  if (means("keras", "tensorflow.keras") || means("keras", "keras")) return "keras.optimizers";
  if (migration.script.names().table().reaching("tf", node).empty()) {
    migration.rewriter.need_import("import tensorflow as tf", change);
    return "tf.keras.optimizers";
  }
  migration.rewriter.need_import("import tensorflow", change);
  return "tensorflow.keras.optimizers";
}

/// Names the class below `legacy`: `optimizers.SGD` becomes `optimizers.legacy.SGD`.
bool make_legacy(Migration& migration, Node name, size_t change) {
  if (name.is(k_attribute) &&
      migration.script.names().sure_name(name.child(Field::k_object)) == "tensorflow.keras.optimizers") {
    migration.rewriter.edits().insert(name.child(Field::k_attribute).begin(), "legacy.", change);
    return true;
  }
  const std::string dotted = migration.script.names().sure_name(name);
  if (dotted.empty()) return false;
  migration.rewriter.edits().replace(
      name.begin(), name.end(),
      spelled_optimizers(migration, name, change) + ".legacy" + dotted.substr(dotted.rfind('.')), change);
  return true;
}

/// Whether an old member is asked of what this call gives.
bool old_member_used(Migration& migration, Node call) {
  const std::string object = migration.script.names().sure_name(call);
  if (object.empty()) return false;
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    if (!node.is(k_attribute) || !is_old(node.child(Field::k_attribute).text())) continue;
    for (const Value& value : migration.script.names().of(node.child(Field::k_object)))
      if (value.is(object)) return true;
  }
  return false;
}

/// A call that makes an optimizer.
bool legacy_optimizer(Migration& migration, const Rule&, Node call, size_t change) {
  if (!Arguments(call).keyword("decay") && !old_member_used(migration, call)) return false;
  return make_legacy(migration, call.child(Field::k_function), change);
}

/// A base class, of a class that is written for the old interface.
bool legacy_base(Migration& migration, const Rule&, Node name, size_t change) {
  const Node type = name.parent().parent();
  if (!name.parent().is(k_argument_list) || !type.is(k_class_definition)) return false;
  const auto methods = migration.script.names().table().names(type);
  if (std::ranges::none_of(methods, [](const std::string& each) { return is_old(each); })) return false;
  return make_legacy(migration, name, change);
}

const CodeEntry optimizer("legacy_optimizer", legacy_optimizer), base("legacy_base", legacy_base);

}  // namespace
}  // namespace npu::migrate
