// SPDX-License-Identifier: Apache-2.0
// Images between the client's layout and the one convolution computes in: dense, channels last ([n][pixels][channels]).
#pragma once

#include "base/tensor.h"

namespace npu::ops::cube {

/// True when images [n, c, spatial…] already lie dense with channels last, each image directly behind the one before.
bool is_channels_last(const Tensor& images);

/// Copies `images` [n, c, spatial…] of any strides and dtype to dense channels-last memory of `dtype`.
void to_channels_last(const Tensor& images, DType dtype, void* to);

/// The way back; `images` is written.
void from_channels_last(const void* from, DType dtype, const Tensor& images);

/// Part [begin, begin + size) of one axis.
Tensor narrow(const Tensor& t, size_t axis, int64_t begin, int64_t size);

/// to[c * to_stride + r] = from[r * stride + c] for elements of 2, 4 or 8 bytes; strides in elements.
void transpose(const void* from, int64_t stride, int64_t rows, int64_t cols, int64_t element, void* to,
               int64_t to_stride);

}  // namespace npu::ops::cube
