// SPDX-License-Identifier: Apache-2.0
// What a product of matrices is asked with: of gemm.h, and of the kernels behind it.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops::cube {

/// One product. op(A) is m x k, op(B) k x n, C m x n. All matrices are row-major: element (r, c) of a stored matrix
/// lies at data[r * ld + c], and `trans_x` says that the stored matrix is the transpose of op(X).
/// beta == 0 writes C without reading it, alpha == 0 or k == 0 leaves beta * C and never reads A or B.
template <class T>
struct GemmArgs {
  bool trans_a = false;
  bool trans_b = false;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  T alpha = T(1);
  const T* a = nullptr;
  int64_t lda = 0;
  const T* b = nullptr;
  int64_t ldb = 0;
  T beta = T(0);
  T* c = nullptr;
  int64_t ldc = 0;
};

}  // namespace npu::ops::cube
