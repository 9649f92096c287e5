// SPDX-License-Identifier: Apache-2.0
// Convolutions of ONNX: images [n, c, spatial…], weights [out, in / group, kernel…].
#pragma once

#include "graph/node/onnx/window.h"

namespace npu::graph::onnx {

/// Sizes of images and weight fit each other; what the windows are.
Windows convolution_windows(const Lowering& l, const Dims& image, const Dims& weight);
/// The shape of what comes out.
Dims convolved_shape(const Dims& image, const Dims& weight, const Windows& windows);
/// out = image * weight; where `bias` is given, + bias.
void convolve(Lowering& l, const Planned& image, const Planned& weight, const Planned* bias, const Windows& windows,
              const Planned& out);

}  // namespace npu::graph::onnx
