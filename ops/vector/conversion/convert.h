// SPDX-License-Identifier: Apache-2.0
// Moving elements between the dtypes in memory and the few dtypes kernels compute in ("slots"): float32, float64,
// int64, complex64, complex128 and bool. Loads convert into a slot, stores convert out of it, rounding once.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops {

/// Copies `count` elements, converting. Strides are in elements of the respective type; 0 on the source repeats one.
/// Conversions are those of C (float to integer truncates towards zero, out-of-range wraps like x86), bool is `!= 0`.
using Convert = void (*)(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t count);

/// The copy from `from` to `to`. One of both must be a slot, or both the same. Null when there is none.
Convert converter(DType from, DType to);

/// The slot that holds every value of `dtype` without loss (uint64 above 2^63 wraps); kUndefined if there is none.
DType slot_of(DType dtype);

}  // namespace npu::ops
