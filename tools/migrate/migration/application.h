// SPDX-License-Identifier: Apache-2.0
// A rule at a place it meets.
#pragma once

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// A place, and how sure it is that the rule means it.
struct Meeting {
  Node node;
  bool sure = true;
  const Values* values = nullptr;  ///< where not: what stands there may be
};

/// Changes the place, lists it, or leaves it, as the rule says.
void apply(Migration& migration, const Rule& rule, const Meeting& meeting);

}  // namespace npu::migrate
