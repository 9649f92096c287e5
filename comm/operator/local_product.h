// SPDX-License-Identifier: Apache-2.0
// What one rank computes of a product that ranks share: out = x1 @ x2 + bias + x3, rounded once.
#pragma once

#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"

namespace npu::comm {

class LocalProduct {
 public:
  /// For x1 [m, k] or [b, s, k] and x2 [k, n], which may be blocked; bias [n] and x3, of out's shape, may be left out.
  /// All are of one type; with `float_bias`, bias may be float32. Raises 161002 for shapes and types that do not fit.
  void plan(const Tensor& x1, const Tensor& x2, const Tensor& bias, const Tensor& x3, const Tensor& out,
            bool float_bias = false);
  /// On tensors planned for, other addresses included.
  void run(const Tensor& x1, const Tensor& x2, const Tensor& bias, const Tensor& x3, const Tensor& out) const;

 private:
  ops::PlainWeight weight_;
  ops::Product product_;
};

/// Of x1 @ x2. Raises 161002 for ranks that have no product here and inner sizes that differ.
Dims product_shape(const Tensor& x1, const Tensor& x2);
/// Raises 161002 unless `bias` has one number for each column of `shape`, and x3 that shape; either may be left out.
void check_terms(const Tensor& bias, const Tensor& x3, const Dims& shape);

/// `out`, between a product and a collective, as a device that saturates has it.
void saturate_partial(const Tensor& out);

}  // namespace npu::comm
