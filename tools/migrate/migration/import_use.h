// SPDX-License-Identifier: Apache-2.0
// What becomes of an import when the uses of its names are rewritten.
#pragma once

#include <string_view>

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// The name that an entry of an import binds: `c` of `a.b as c`, `a` of `a.b`.
std::string_view name_bound_by(Node entry);
/// The first place that reads what `entry` (a name of an import) binds and that no other rule replaced; or none.
Node first_use_left(Migration& migration, Node entry);
/// The name goes from its import, which has others, with a comma.
void drop_import_name(Migration& migration, Node entry, size_t change);

}  // namespace npu::migrate
