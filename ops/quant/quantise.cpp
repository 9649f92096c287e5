// SPDX-License-Identifier: Apache-2.0
// Quantisation by given scales: out = round(x * scale + offset), or x / scale, saturating to the type of out.
#include <string>

#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/quant/whole_rows.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

Rounding rounding_of(const std::string& mode) {
  if (mode == "round" || mode == "rint") return Rounding::kNearest;
  if (mode == "floor") return Rounding::kDown;
  if (mode == "ceil") return Rounding::kUp;
  require(mode == "trunc", "round_mode is '{}'; it is round, floor, ceil or trunc", mode);
  return Rounding::kZero;
}

/// Scales and offsets have one number, or those along `axis`; with groups a row of numbers for each group of rows.
struct Quantise final : Operator {
  Tensor self, scale, offset, group_index, out;
  bool divide = false, sqrt_mode = false;
  std::string round_mode = "round";
  int64_t axis = -1;
  DType dtype = DType::kUndefined;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + self.count(); }

 private:
  void plan_factors();
  void run_row(int64_t row, float* values) const;

  Rows x_;
  WholeRows out_;
  Factors scales_, offsets_;
  Groups groups_;
  Rounding rounding_ = Rounding::kNearest;
};

void Quantise::plan_factors() {
  groups_.plan(group_index, false);
  if (!groups_.given()) {
    scales_.plan_along(scale, self.shape, axis, "scale");
    return offsets_.plan_along(offset, self.shape, axis, "offset");
  }
  require(self.rank() == 2 && scale.rank() == 2 && scale.shape[0] == groups_.count(),
          "x is {}, scale is {}, group_index has {} groups: x has rows, scale a row for each group", self, scale,
          groups_.count());
  require(absent(offset) || offset.count() == 1, "offset is {}; groups share one number", offset);
  scales_.plan(scale, groups_.count(), self.shape[1], "scale");
  offsets_.plan(offset, 1, 1, "offset");
}

void Quantise::prepare() {
  require_float(self, "x");
  require(!absent(scale), "scale has no elements; one number at least is needed");
  require(dtype == DType::kUndefined || dtype == out.dtype, "the type named is {}, the output is {}", dtype, out);
  rounding_ = rounding_of(round_mode);
  x_ = Rows(self, self.rank() == 0 ? 0 : self.rank() - 1, DType::kFloat);
  out_.plan(out, self.shape, "y");
  plan_factors();
}

void Quantise::run_row(int64_t row, float* values) const {
  const QuantKernel& kernel = quant_kernel();
  const int64_t n = x_.length(), group = groups_.of(row);
  const auto* x = static_cast<const float*>(x_.load(row, values));
  if (group < 0) {
    std::fill_n(values, n, 0.0f);  // a row that belongs to no group
  } else {
    const int64_t at = groups_.given() ? group : row;
    const Factor factor = scales_.row(at), addend = offsets_.row(at);
    if (sqrt_mode) kernel.scale(x, factor, {}, values, n), x = values;
    (divide ? kernel.divide : kernel.scale)(x, factor, addend, values, n);
  }
  out_.store(row, values, rounding_);
}

void Quantise::run() {
  if (self.count() == 0) return;
  scales_.load(), offsets_.load(), groups_.load();
  for_rows(x_, [this](int64_t begin, int64_t end) {
    const Scratch<float> values(x_.length());
    for (int64_t row = begin; row < end; ++row) run_row(row, values);
  });
}

NPU_OPERATOR(Quantise, "quantise", "quant", in<&Quantise::self>("self"), in<&Quantise::scale>("scale"),
             optional<&Quantise::offset>("offset"), optional<&Quantise::group_index>("group_index"),
             attr<&Quantise::divide>("divide"), attr<&Quantise::sqrt_mode>("sqrt_mode"),
             attr<&Quantise::round_mode>("round_mode"), attr<&Quantise::axis>("axis"), attr<&Quantise::dtype>("dtype"),
             out<&Quantise::out>("out"));

}  // namespace
}  // namespace npu::ops
