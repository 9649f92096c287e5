// SPDX-License-Identifier: Apache-2.0
// Quantised experts: what their products still need, and weights of few bits made float32.
#pragma once

#include <cstdint>

#include "base/tensor.h"
#include "ops/matmul/grouped_product.h"

namespace npu::ops {

/// What a product of int8 is multiplied with and moved by, as 64 bits hold it: the bits of a float32 below, nine bits
/// of an offset above (aclnnTransQuantParam packs them).
struct PackedScale {
  float scale;
  float offset;
  explicit PackedScale(int64_t bits);
};

/// int32 holds eight 4-bit numbers, the first in its lowest bits; other weights as they are.
Tensor unpacked(const Tensor& weight);

/// (weight + offset) * scale for columns from `col` on, in the order of the weight's storage. `scale` and `offset` are
/// [parts of k, n]; an undefined offset is 0.
void dequantise(const Matrix& weight, int64_t col, const Tensor& scale, const Tensor& offset, float* to);

/// The activations that may follow a product: 0 none, 1 relu, 2 gelu (tanh), 4 fast gelu, 5 silu.
void activate(int64_t type, float* x, int64_t count);

}  // namespace npu::ops
