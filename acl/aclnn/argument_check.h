// SPDX-License-Identifier: Apache-2.0
// What phase 1 asks of arguments before any operator sees them: element types and numbers as acl/types.tsv says, and
// no blocked format.
#pragma once

#include <span>

#include "acl/aclnn/row.h"

namespace npu::acl {

/// Raises 161002 unless the function takes this tensor: its element type, in a plain format.
void check_kind(const Tensor& tensor, const Parameter& parameter);

/// Raises 161002 for a number out of its range, and for a dtype argument that contradicts its tensor.
void check_values(const Row& row, std::span<const Argument> arguments);

}  // namespace npu::acl
