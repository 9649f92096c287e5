// SPDX-License-Identifier: Apache-2.0
// Loads that lose digits on purpose: what a client's framework casts to a half type before it computes in float32.
#pragma once

#include "ops/vector/conversion/convert.h"

namespace npu::ops {

/// The copy from `from` to float32 that rounds each element to `through`, float16 or bfloat16, on the way. Null when
/// there is none.
Convert rounding_converter(DType from, DType through);

}  // namespace npu::ops
