// SPDX-License-Identifier: Apache-2.0
// Element types that the SoC in force does not have, as bfloat16 on the first generation: no operator takes them there.
#pragma once

#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/error.h"
#include "device/process/soc.h"
#include "ops/operator.h"

namespace npu::ops {

/// Raises `code`: "self is bfloat16[4]: add takes no bfloat16 on Ascend910A; …". `what` is the tensor with its type.
[[noreturn]] void refuse_type(DType dtype, const std::string& what, std::string_view who, Code code);

/// Raises `code` where a tensor of `op`, which `who` calls, has such a type.
void check_soc_types(Operator& op, std::string_view who, Code code);

}  // namespace npu::ops
