// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/dynamic.h"

#include <string>

#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// y, scale and perhaps offset of x * smooth, row by row; `smooth` has a row of numbers for each group of rows. With
/// quant_mode perchannel the numbers along the last but one axis share a scale, with pertensor all.
struct DynamicQuant final : Operator {
  Tensor self, smooth, group_index, out, scale, offset;
  DType dtype = DType::kUndefined;
  std::string quant_mode = "pertoken";
  bool check_symmetry = false, is_symmetrical = true;
  double dst_type_max = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + 2 * self.count(); }

 private:
  bool by_columns() const { return quant_mode == "perchannel"; }
  bool at_once() const { return quant_mode == "pertensor"; }
  void check_mode() const;
  void smoothed(int64_t row, float* values) const;
  void run_row(int64_t row, float* values) const;
  void run_whole() const;

  Rows x_, scale_, offset_;
  WholeRows out_;
  Factors smooth_;
  Groups groups_;
};

void DynamicQuant::check_mode() const {
  require(quant_mode == "pertoken" || by_columns() || at_once(),
          "quant_mode is '{}'; it is pertoken, perchannel or pertensor", quant_mode);
  require(!check_symmetry || is_symmetrical != offset.defined(), "is_symmetrical is {}, offset is {}: an offset is {}",
          is_symmetrical, offset, is_symmetrical ? "not written then" : "written then");
  require(dst_type_max == 0, "dst_type_max is {}; only 0, the largest number of dst_type, is built", dst_type_max);
  require(!by_columns() || (self.rank() >= 2 && out.shape == self.shape && absent(group_index)),
          "quant_mode is perchannel: x is {}, y is {}; it takes no 4-bit numbers and no group_index", self, out);
  require(!at_once() || (scale.count() == 1 && (!offset.defined() || offset.count() == 1)),
          "quant_mode is pertensor: scale is {}; it has one number", scale);
}

void DynamicQuant::prepare() {
  require_float(self, "x");
  require(self.rank() >= 1, "x is {}; it needs a dimension whose numbers share a scale", self);
  require(dtype == DType::kUndefined || dtype == out.dtype, "dst_type is {}, y is {}", dtype, out);
  check_mode();
  const size_t last = self.rank() - 1;
  const auto turned = [&](const Tensor& t) { return by_columns() ? t.transposed(last - 1, last) : t; };
  const Tensor x = turned(self);
  x_ = Rows(x, last, DType::kFloat);
  out_.plan(turned(out), x.shape, "y");
  scale_ = at_once() ? Rows() : one_per_row(scale, "scale", x, last, DType::kFloat);
  offset_ = at_once() ? Rows() : one_per_row(offset, "offset", x, last, DType::kFloat);
  groups_.plan(group_index, false);
  require(!groups_.given() || !absent(smooth), "group_index is given, smooth_scales is not; it has a row a group");
  smooth_.plan(smooth, groups_.count(), self.shape[last], "smooth_scales");
}

void DynamicQuant::smoothed(int64_t row, float* values) const {
  const auto* x = static_cast<const float*>(x_.load(row, values));
  const int64_t group = groups_.of(row);
  // Rows behind the last group are not smoothed.
  Factor factor = group < 0 ? Factor{} : smooth_.row(by_columns() ? 0 : group);
  // A row of columns is one of them, with one number.
  if (by_columns() && factor.each) factor = {factor.data + row % self.shape.back(), false};
  quant_kernel().scale(x, factor, {}, values, x_.length());
}

// The extremes of all rows, then every row by the scale they make.
void DynamicQuant::run_whole() const {
  const Scratch<float> values(x_.length());
  std::vector<float> ends;
  for (int64_t row = 0; row < x_.count(); ++row) {
    smoothed(row, values);
    const auto [low, high] = quant_kernel().extremes(values, x_.length());
    ends.push_back(low), ends.push_back(high);
  }
  const RowScale made = scale_of(out_, ends.data(), static_cast<int64_t>(ends.size()), !offset.defined());
  store_element(scale, 0, made.scale);
  if (offset.defined()) store_element(offset, 0, made.offset);
  for_rows(x_, [&](int64_t begin, int64_t end) {
    const Scratch<float> line(x_.length());
    for (int64_t row = begin; row < end; ++row) {
      smoothed(row, line);
      write_row(out_, row, line, made, !offset.defined());
    }
  });
}

void DynamicQuant::run_row(int64_t row, float* values) const {
  smoothed(row, values);
  const RowScale made = quantise_row(out_, row, values, !offset.defined());
  store_number(scale_, row, made.scale);
  if (offset.defined()) store_number(offset_, row, made.offset);
}

void DynamicQuant::run() {
  if (x_.count() == 0) return;
  smooth_.load(), groups_.load();
  if (at_once()) return run_whole();
  for_rows(x_, [this](int64_t begin, int64_t end) {
    const Scratch<float> values(x_.length());
    for (int64_t row = begin; row < end; ++row) run_row(row, values);
  });
}

NPU_OPERATOR(DynamicQuant, "dynamic_quant", "quant", in<&DynamicQuant::self>("self"),
             optional<&DynamicQuant::smooth>("smooth"), optional<&DynamicQuant::group_index>("group_index"),
             attr<&DynamicQuant::dtype>("dtype"), attr<&DynamicQuant::quant_mode>("quant_mode"),
             attr<&DynamicQuant::check_symmetry>("check_symmetry"),
             attr<&DynamicQuant::is_symmetrical>("is_symmetrical"), attr<&DynamicQuant::dst_type_max>("dst_type_max"),
             out<&DynamicQuant::out>("out"), out<&DynamicQuant::scale>("scale"),
             optional_out<&DynamicQuant::offset>("offset"));

}  // namespace

RowScale scale_of(const WholeRows& out, const float* values, int64_t n, bool symmetric) {
  const QuantKernel& kernel = quant_kernel();
  RowScale made;
  if (symmetric) {
    made.scale = kernel.largest(values, n) / out.high();
  } else {
    const auto [low, high] = kernel.extremes(values, n);
    made.scale = (high - low) / (out.high() - out.low());
    made.offset = out.high() - high / made.scale;
  }
  return made;
}

void write_row(const WholeRows& out, int64_t row, float* values, const RowScale& by, bool symmetric) {
  quant_kernel().divide(values, {&by.scale, false}, symmetric ? Factor{} : Factor{&by.offset, false}, values,
                        out.length());
  out.store(row, values);
}

RowScale quantise_row(const WholeRows& out, int64_t row, float* values, bool symmetric) {
  const RowScale made = scale_of(out, values, out.length(), symmetric);
  write_row(out, row, values, made, symmetric);
  return made;
}

}  // namespace npu::ops
