// SPDX-License-Identifier: Apache-2.0
// The dialects that models are written in, by name.
#pragma once

#include <string_view>

#include "graph/ir/dialect.h"

namespace npu::graph::model {

/// Raises 500000 for one that no importer has.
std::string_view name_of_dialect(const Dialect& dialect);
/// Raises 100006 for a name that no dialect has.
const Dialect& dialect_named(std::string_view name);

}  // namespace npu::graph::model
