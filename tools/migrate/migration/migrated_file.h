// SPDX-License-Identifier: Apache-2.0
// One file under all rules: every place is met, edits are gathered, and the new text is checked.
#pragma once

#include <vector>

#include "tools/migrate/migration/migration.h"
#include "tools/migrate/rule/rule_index.h"

namespace npu::migrate {

/// Edits that other files asked for come in `remote`.
FileResult migrated_file(Migration& migration, const RuleIndex& rules, const std::vector<Remote>& remote);

}  // namespace npu::migrate
