// SPDX-License-Identifier: Apache-2.0
// Rows that RMS norm gives as floats, for what quantises them: x or x + residual over its root mean square, by weights.
#pragma once

#include "ops/norm/row_kernel.h"
#include "ops/quant/factors.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {

/// As many numbers as `t` has in a row, where they lie one behind the other.
inline Tensor as_row(const Tensor& t) { return t.defined() && t.contiguous() ? t.view({t.count()}, {1}) : t; }

struct NormalisedArguments {
  Tensor self{}, residual{}, gamma{}, beta{};
  Tensor sum{}, rstd{}, out{};  ///< written where given: self + residual, one number a row, the rows themselves
  double eps = 1e-6;
};

class NormalisedRows {
 public:
  /// The axes of gamma, without leading ones of size 1, make a row. Raises 161002 when shapes do not fit.
  void plan(const NormalisedArguments& arguments);
  size_t axes() const { return axes_; }
  int64_t count() const { return x_.count(); }
  int64_t length() const { return x_.length(); }
  const Rows& rows() const { return x_; }
  void load();
  /// Row `index` into `values`; writes what else is wanted of it.
  void row(int64_t index, float* values) const;

 private:
  const float* sum_of(int64_t index, float* values, float* other) const;

  NormalisedArguments a_;
  size_t axes_ = 1;
  Rows x_, residual_, sum_, rstd_, out_;
  Factors gamma_, beta_;
};

}  // namespace npu::ops
