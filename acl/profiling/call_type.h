// SPDX-License-Identifier: Apache-2.0
// What the vendor's tables, and those who read them, call what an aclnn function runs (call_types.tsv, whose types are
// those of acl/singleop/operator_types.tsv).
#pragma once

#include <string_view>

namespace npu::acl {

/// By the function's name without "aclnn" and "Inplace": "SoftmaxBackward" is a SoftmaxGrad. `call` itself where the
/// vendor's type is called like it, or is not known.
std::string_view type_of_call(std::string_view call);

}  // namespace npu::acl
