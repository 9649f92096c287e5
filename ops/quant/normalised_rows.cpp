// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/normalised_rows.h"

#include <algorithm>

#include "ops/quant/dynamic.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// Sizes of a row: those of gamma, whose leading ones say nothing.
Dims row_shape(const Tensor& gamma) {
  Dims shape = gamma.shape;
  while (shape.size() > 1 && shape[0] == 1) shape.erase(0);
  return shape;
}

Rows rows_of(const Tensor& t, const char* name, const Dims& shape, size_t axes) {
  if (absent(t)) return {};
  check_shape(t, name, shape);
  return Rows(t, last_axes(t, axes), DType::kFloat);
}

}  // namespace

void NormalisedRows::plan(const NormalisedArguments& arguments) {
  a_ = arguments;
  require_float(a_.self, "x");
  require_float(a_.gamma, "gamma");
  const Dims row = row_shape(a_.gamma), &shape = a_.self.shape;
  axes_ = row.size();
  require(axes_ <= shape.size() && std::equal(row.begin(), row.end(), shape.end() - axes_),
          "x is {}, gamma is {}: gamma must be the end of x", a_.self, a_.gamma);
  x_ = Rows(a_.self, last_axes(a_.self, axes_), DType::kFloat);
  residual_ = rows_of(a_.residual, "x2", shape, axes_);
  sum_ = rows_of(a_.sum, "x_out", shape, axes_);
  out_ = rows_of(a_.out, "rmsnorm_out", shape, axes_);
  gamma_.plan(as_row(a_.gamma), 1, x_.length(), "gamma");
  beta_.plan(as_row(a_.beta), 1, x_.length(), "beta");
  require(absent(a_.beta) || a_.beta.count() == x_.length(), "beta is {}, gamma is {}: their sizes must agree", a_.beta,
          a_.gamma);
  rstd_ = {};
  if (absent(a_.rstd)) return;
  require(a_.rstd.count() == x_.count(), "rstd is {}, x has {} rows: it holds one number for each", a_.rstd,
          x_.count());
  rstd_ = Rows(a_.rstd, std::span<const size_t>(), DType::kFloat);
}

void NormalisedRows::load() { gamma_.load(), beta_.load(); }

const float* NormalisedRows::sum_of(int64_t index, float* values, float* other) const {
  const auto* x = static_cast<const float*>(x_.load(index, values));
  if (!a_.residual.defined()) return x;
  // In float32: the sum of two halves is not rounded before it is normalised.
  row_kernel(DType::kFloat).add(x, residual_.load(index, other), values, length());
  return values;
}

void NormalisedRows::row(int64_t index, float* values) const {
  const int64_t n = length();
  const Scratch<float> other(n);
  const float* x = sum_of(index, values, other);
  if (!absent(a_.sum)) {
    auto* target = static_cast<float*>(sum_.target(index, other));
    std::copy_n(x, n, target);
    sum_.store(index, target);
  }
  const RowKernel& kernel = row_kernel(DType::kFloat);
  const RowMoments moments = kernel.rms_moments(x, n, a_.eps);
  if (!absent(a_.rstd)) store_number(rstd_, index, static_cast<float>(moments.rstd));
  kernel.normalise(x, gamma_.row(0).data, beta_.row(0).data, values, n, moments);
  if (absent(a_.out)) return;
  auto* target = static_cast<float*>(out_.target(index, other));
  std::copy_n(values, n, target);
  out_.store(index, target);
}

}  // namespace npu::ops
