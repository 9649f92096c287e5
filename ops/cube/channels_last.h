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

}  // namespace npu::ops::cube
