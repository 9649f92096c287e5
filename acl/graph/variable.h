// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/graph/value.h"

namespace npu::acl {

/// Raises 161002 naming `argument` for another kind of value.
graph::Variable& variable_of(const anynpu_value* value, const char* argument);
/// The context of the home where a client keeps the variable's value (anynpu_variable_move); null for none.
void* home_of(const graph::Variable& variable);

}  // namespace npu::acl
