// SPDX-License-Identifier: Apache-2.0
// The ways to compute a convolution. Each maker refuses with null when its way does not apply; make_conv asks them in
// order of speed, and the last one takes everything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/tensor.h"
#include "ops/cube/conv_shape.h"
#include "ops/cube/onednn.h"
#include "ops/vector/chain/chain.h"

namespace npu::ops {

/// src [n, c, spatial…], weight [o, c / groups, kernel…], bias [o] or undefined, dst [n, o, spatial…], two or three
/// spatial axes, any strides, float16, bfloat16, float32 or float64 each.
struct ConvTensors {
  Tensor src, weight, bias, dst;
  bool kept_weight = false;  ///< its elements never change: what is made of it is kept
};

/// One planned pass. kForward writes dst, kBackwardData writes src, kBackwardWeights writes weight.
class ConvKernel {
 public:
  virtual ~ConvKernel() = default;
  /// `tensors` have the geometry planned for; addresses may have changed. Does not throw. `after` may follow where the
  /// result is images, dense and channels-last: it goes over each piece of it as soon as that is there.
  virtual void run(const ConvTensors& tensors, const Chain* after) const = 0;
};

using ConvMaker = std::unique_ptr<ConvKernel>(cube::ConvPass pass, const cube::ConvShape& shape,
                                              const ConvTensors& tensors);

ConvMaker make_pointwise_conv;  ///< kernel 1, stride 1: a product of matrices
ConvMaker make_winograd_conv;   ///< 3x3, images with their channels last: fewer multiplications
ConvMaker make_patches_conv;    ///< a product with TensorFlow's filter as it lies: few pixels, or few channels
ConvMaker make_patches_kernel;  ///< the same for any number of them
ConvMaker make_disjoint_conv;   ///< patches that share no pixel, as pixels of many channels
ConvMaker make_direct_conv;     ///< the house's kernels, where they win
ConvMaker make_direct_kernel;   ///< the same wherever they can be had
ConvMaker make_depthwise_conv;  ///< gradients of depthwise convolutions, most of which oneDNN has no kernels for
ConvMaker make_tiled_conv;      ///< oneDNN's kernels on fixed tiles
ConvMaker make_unfolded_conv;   ///< patches laid out as a matrix; any geometry, also float64
ConvMaker make_conv;            ///< the first of them that applies, or the one that tuning found

/// A pass and its geometry, as banks of tuned choices name it.
std::string conv_key(cube::ConvPass pass, const cube::ConvShape& shape);
/// Into how many parts a kernel of this name cuts a pass at most: `usual`, or what tuning found.
int64_t conv_parts(std::string_view kernel, cube::ConvPass pass, const cube::ConvShape& shape, DType dtype,
                   int64_t usual);

/// True where the ways that keep what they make of weights beat the others, since nothing is packed while the model
/// runs: images that lie channels last, weights that stay. Measured on Zen 4 with 1 to 8 images of the layers of
/// ResNet-50, MobileNetV3 and a detector.
bool kept_ways_win(cube::ConvPass pass, const cube::ConvShape& shape, const ConvTensors& tensors);

/// What a pass computes in: float64 if any tensor is, else float32.
DType conv_slot(const ConvTensors& tensors);

/// How `weight` lies, if it is dense in an order that oneDNN's kernels are packed from.
std::optional<cube::WeightLayout> weight_layout(const Tensor& weight);

/// Dense row-major copy of `weight` in `dtype`, and the way back.
void to_dense(const Tensor& weight, DType dtype, void* to);
void from_dense(const void* from, DType dtype, const Tensor& weight);

}  // namespace npu::ops
