// SPDX-License-Identifier: Apache-2.0
// What phase 1 asks of arguments before any operator sees them: element types and numbers as acl/types.tsv says, and
// no blocked format.
#pragma once

#include <span>

#include "acl/aclnn/row.h"

namespace npu::acl {

namespace detail {
[[noreturn]] void refuse_kind(const Tensor& tensor, const Parameter& parameter);
bool is_plain(int32_t format, const Parameter& parameter);
}  // namespace detail

/// Raises 161002 unless the function takes this tensor: its element type, in a plain format.
inline void check_kind(const Tensor& tensor, const Parameter& parameter) {
  const bool named = tensor.format == ACL_FORMAT_ND || tensor.format == ACL_FORMAT_NCHW;
  if (parameter.rule.takes(tensor.dtype) && (named || detail::is_plain(tensor.format, parameter))) [[likely]]
    return;
  detail::refuse_kind(tensor, parameter);
}

/// Raises 161002 for a number out of its range, and for a dtype argument that contradicts its tensor.
void check_values(const Row& row, std::span<const Argument> arguments);

}  // namespace npu::acl
