// SPDX-License-Identifier: Apache-2.0
// The arguments of a convolution as the client gives them, checked and turned into a ConvShape.
#pragma once

#include <vector>

#include "ops/conv/kernel.h"

namespace npu::ops {

struct ConvOptions {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

/// Fills in one value per spatial axis, checks ranks, channels and kernel sizes against `input` and `weight`, and gives
/// the shape `out` must have. Raises 161002 naming the argument.
Dims conv_output_shape(const Tensor& input, const Tensor& weight, const ConvOptions& options);

/// The geometry, seen from the convolution whose data gradient a transposed one is: there, src is the client's output.
cube::ConvShape conv_shape(const Tensor& input, const Tensor& weight, const Tensor& output, const ConvOptions& options);

/// The same images with at least two spatial axes: one-dimensional ones get a height of 1.
Tensor at_least_2d(const Tensor& images);

}  // namespace npu::ops
