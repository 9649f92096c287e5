// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

bool calls(Migration& migration, std::string_view name) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (!tree.node(i).is(Kind::k_call)) continue;
    for (const Value& value : migration.script.names().of(tree.node(i).child(Field::k_function)))
      if (value.is(name)) return true;
  }
  return false;
}

/// The file the program begins in gets the rule's lines, unless it opens a device already. There is nothing else to
/// edit.
bool open_device(Migration& migration, const Rule&, Node, size_t) {
  return migration.script.begins_tensorflow() && !calls(migration, "npu_device.open");
}

/// A file that calls enable_v1 in its own way keeps that.
bool enable_v1(Migration& migration, const Rule&, Node, size_t) {
  return !calls(migration, "npu_device.compat.enable_v1");
}

const CodeEntry open("open_device", open_device), enable("enable_v1", enable_v1);

}  // namespace
}  // namespace npu::migrate
