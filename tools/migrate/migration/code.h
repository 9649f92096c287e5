// SPDX-License-Identifier: Apache-2.0
// What rules do that no data says. A function stands in a file of its own family below code/ and is registered there.
#pragma once

#include <string>

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// Does the edits at `node` under row `change`; false where it does not apply and nothing was edited.
using Code = bool (*)(Migration& migration, const Rule& rule, Node node, size_t change);

/// Makes `function` known as `name` to rules; a static object of its file.
struct CodeEntry {
  CodeEntry(const char* name, Code function);
};

/// The function a rule names, or null.
Code find_code(const std::string& name);

}  // namespace npu::migrate
