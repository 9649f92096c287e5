// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements lie in blocks of one axis: NC1HWC0, FRACTAL_Z, FRACTAL_NZ and the forms of them with depth.
// Operators compute on plain tensors; a blocked one is copied to a plain one before, and from one after.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace npu::acl {

bool is_blocked(int32_t format);

/// Two views of the same elements.
struct BlockedView {
  Tensor plain, blocked;
};

/// All elements of `given` where they lie in `memory`, whose sizes as the client gave them are `storage`. Raises 100000
/// where these do not suit the format; `argument` names the tensor.
std::vector<BlockedView> blocked_views(const Tensor& given, void* memory, int32_t format,
                                       std::span<const int64_t> storage, const std::string& argument);

}  // namespace npu::acl
