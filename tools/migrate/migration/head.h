// SPDX-License-Identifier: Apache-2.0
// The head of a file: where new imports and start-up lines go.
#pragma once

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// Puts the lines that the changes need where they belong, but for those the file has.
void put_head(Migration& migration);

}  // namespace npu::migrate
