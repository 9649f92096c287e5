// SPDX-License-Identifier: Apache-2.0
// Tensors as plain float32 vectors, and products of those: the layers that the single-operator interface runs work on
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/cube/gemm.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {

using Floats = std::vector<float>;

/// Copies also where the tensor holds floats: layers change what they read.
inline Floats read_floats(const Tensor& t) {
  Floats values(static_cast<size_t>(t.count()));
  OrderedTensor(t, DType::kFloat).load(0, t.count(), values.data());
  return values;
}

inline void write_floats(const Tensor& t, const Floats& values) {
  OrderedTensor(t, DType::kFloat).store(0, t.count(), values.data());
}

/// c += op(a) * op(b), c m x n.
inline void add_product(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
                        float* c) {
  cube::gemm<float>({trans_a, trans_b, m, n, k, 1, a, trans_a ? m : k, b, trans_b ? k : n, 1, c, n});
}

}  // namespace npu::ops
