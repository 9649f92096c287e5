// SPDX-License-Identifier: Apache-2.0
// Strings that come to mean something else, wherever they stand.
#pragma once

#include <string>

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// Rewrites how the literals begin that may reach this expression, here or in the file they stand in: `action.key`
/// becomes `action.text`. False where none stands in the expression itself; others have rows of their own.
bool rewrite_literals(Migration& migration, const Rule& rule, const Action& action, Node expression, size_t change);

/// Puts `text` in the place of how a literal of this file begins; of a device with its number (`numbered`) in that of
/// all of it, where the process has its NPU from the environment.
void put_literal(Migration& migration, const Place& place, bool numbered, const std::string& text, size_t change);

}  // namespace npu::migrate
