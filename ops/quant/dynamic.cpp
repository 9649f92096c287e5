// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/dynamic.h"

#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// y, scale and perhaps offset of x * smooth, row by row; `smooth` has a row of numbers for each group of rows.
struct DynamicQuant final : Operator {
  Tensor self, smooth, group_index, out, scale, offset;
  DType dtype = DType::kUndefined;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + 2 * self.count(); }

 private:
  void run_row(int64_t row, float* values) const;

  Rows x_, scale_, offset_;
  WholeRows out_;
  Factors smooth_;
  Groups groups_;
};

void DynamicQuant::prepare() {
  require_float(self, "x");
  require(self.rank() >= 1, "x is {}; it needs a dimension whose numbers share a scale", self);
  require(dtype == DType::kUndefined || dtype == out.dtype, "dst_type is {}, y is {}", dtype, out);
  const size_t last = self.rank() - 1;
  x_ = Rows(self, last, DType::kFloat);
  out_.plan(out, self.shape, "y");
  scale_ = one_per_row(scale, "scale", self, last, DType::kFloat);
  offset_ = one_per_row(offset, "offset", self, last, DType::kFloat);
  groups_.plan(group_index, false);
  require(!groups_.given() || !absent(smooth), "group_index is given, smooth_scales is not; it has a row a group");
  smooth_.plan(smooth, groups_.count(), x_.length(), "smooth_scales");
}

void DynamicQuant::run_row(int64_t row, float* values) const {
  const auto* x = static_cast<const float*>(x_.load(row, values));
  const int64_t group = groups_.of(row);
  // Rows behind the last group are not smoothed.
  quant_kernel().scale(x, group < 0 ? Factor{} : smooth_.row(group), {}, values, x_.length());
  const RowScale made = quantise_row(out_, row, values, !offset.defined());
  store_number(scale_, row, made.scale);
  if (offset.defined()) store_number(offset_, row, made.offset);
}

void DynamicQuant::run() {
  if (x_.count() == 0) return;
  smooth_.load(), groups_.load();
  for_rows(x_, [this](int64_t begin, int64_t end) {
    const Scratch<float> values(x_.length());
    for (int64_t row = begin; row < end; ++row) run_row(row, values);
  });
}

NPU_OPERATOR(DynamicQuant, "dynamic_quant", "quant", in<&DynamicQuant::self>("self"),
             optional<&DynamicQuant::smooth>("smooth"), optional<&DynamicQuant::group_index>("group_index"),
             attr<&DynamicQuant::dtype>("dtype"), out<&DynamicQuant::out>("out"), out<&DynamicQuant::scale>("scale"),
             optional_out<&DynamicQuant::offset>("offset"));

}  // namespace

RowScale quantise_row(const WholeRows& out, int64_t row, float* values, bool symmetric) {
  const QuantKernel& kernel = quant_kernel();
  const int64_t n = out.length();
  RowScale made;
  if (symmetric) {
    made.scale = kernel.largest(values, n) / out.high();
  } else {
    const auto [low, high] = kernel.extremes(values, n);
    made.scale = (high - low) / (out.high() - out.low());
    made.offset = out.high() - high / made.scale;
  }
  kernel.divide(values, {&made.scale, false}, symmetric ? Factor{} : Factor{&made.offset, false}, values, n);
  out.store(row, values);
  return made;
}

}  // namespace npu::ops
