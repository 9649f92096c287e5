// SPDX-License-Identifier: Apache-2.0
// A right operand that many products share, as a recurrent layer's weights over all its steps: brought once into the
// order that the kernels read.
#pragma once

#include "ops/cube/gemm_args.h"
#include "ops/scratch.h"

namespace npu::ops::cube {

/// T is float or, where has_panels says so, BFloat16; sums are float32.
template <class T>
class KeptRight {
 public:
  /// op(B), k x n, dense: stored as n x k if `trans`. Where the CPU has no panels B is read at every product, so it
  /// must live as long as this.
  KeptRight(bool trans, int64_t k, int64_t n, const T* b);

  /// c = op(a) op(B) + beta * c on the thread pool; op(a) is m x k, stored as k x m if `trans`, and c m x n, both
  /// dense. Bits depend on the sizes only.
  void multiply(bool trans, int64_t m, const T* a, float beta, float* c) const;

 private:
  bool trans_;
  int64_t k_, n_;
  const T* b_;
  Scratch<T> panels_;
};

}  // namespace npu::ops::cube
