// SPDX-License-Identifier: Apache-2.0
// The steps that rules are made of.
#pragma once

#include <string>

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// Does one step at a place. False where it does not apply there (the keyword to rename is not there, the literal is
/// another): nothing was edited.
bool act(Migration& migration, const Rule& rule, const Action& action, Node node, size_t change);

/// {self}, {callee}, {object}, {name} and {first} of a place.
std::string filled(const std::string& text, Node node);

}  // namespace npu::migrate
