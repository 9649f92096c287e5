// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/code.h"

namespace npu::migrate {
namespace {

/// The file the program begins in gets the rule's lines, unless it opens a device already. There is nothing else to
/// edit.
bool open_device(Migration& migration, const Rule&, Node, size_t) {
  if (!migration.is_entry()) return false;
  const Tree& tree = migration.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (!tree.node(i).is(Kind::k_call)) continue;
    for (const Value& value : migration.names().of(tree.node(i).child(Field::k_function)))
      if (value.text == "npu_device.open") return false;
  }
  return true;
}

const CodeEntry entry("open_device", open_device);

}  // namespace
}  // namespace npu::migrate
