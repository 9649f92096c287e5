// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu::ops {

/// to[c * to_stride + r] = from[r * stride + c] for elements of 1, 2, 4 or 8 bytes; strides in elements. In the calling
/// thread.
void transpose(const void* from, int64_t stride, int64_t rows, int64_t cols, int64_t element, void* to,
               int64_t to_stride);

}  // namespace npu::ops
