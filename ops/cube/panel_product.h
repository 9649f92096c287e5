// SPDX-License-Identifier: Apache-2.0
// The house's own products of float32 and bfloat16 matrices, where has_panels says so: both operands are put into
// panels that are read in order. Sums are float32, over runs of k that begin at zero and are added in order.
#pragma once

#include "ops/cube/gemm_args.h"
#include "ops/cube/panels.h"

namespace npu::ops::cube {

/// Numbers that B, k x n, takes in panels.
inline int64_t panel_right_size(DType dtype, int64_t k, int64_t n) {
  return word_of(dtype) * panel_words(dtype, k) * ((n + kPanel - 1) / kPanel);
}

/// B of `args` into panels, on the thread pool if `parallel`. T is float or BFloat16.
template <class T>
void panel_order_right(const GemmArgs<T>& args, bool parallel, T* to);

/// Where a product is written: c = alpha * op(A) op(B) + beta * addend, both m x n; beta 0 does not read the addend.
struct PanelResult {
  float* c;
  int64_t ldc;
  float alpha = 1, beta = 0;
  const float* addend = nullptr;  ///< by default c as it is
  int64_t ld_addend = 0;          ///< 0: the same row for all
};

/// Computes in the calling thread; args' own alpha, beta and c are not read. `right` holds panels of a B of `depth`
/// rows, from the column and the row on where this part of the product begins; if null, they are made here.
template <class T>
void panel_product(const GemmArgs<T>& args, const T* right, int64_t depth, const PanelResult& to);

}  // namespace npu::ops::cube
