// SPDX-License-Identifier: Apache-2.0
// The house's own products of bfloat16 matrices, by the CPU's dot products of pairs. Both operands are put into panels
// that are read in order; sums are float32, each in the order of k, wherever in a panel it lies.
#pragma once

#include "ops/cube/gemm.h"
#include "ops/cube/panels.h"

namespace npu::ops::cube {

/// True where these kernels are the fastest there are: AMD's dot products. Matrix units (AMX) are left to oneDNN.
bool has_dots();

/// Elements that B, k x n, takes in panels.
inline int64_t dots_right_size(int64_t k, int64_t n) {
  return 2 * panel_words(DType::kBFloat16, k) * ((n + kPanel - 1) / kPanel);
}

/// B of `args` into panels, on the thread pool if `parallel`.
void dots_order_right(const GemmArgs<BFloat16>& args, bool parallel, BFloat16* to);

/// c (dense) = op(A) op(B) in the calling thread; alpha, beta and args.c are not read. `right` holds panels of a B of
/// `depth` rows, from the column and the row on where this part of the product begins; if null, they are made here.
void dots_multiply(const GemmArgs<BFloat16>& args, const BFloat16* right, int64_t depth, float* c);

}  // namespace npu::ops::cube
