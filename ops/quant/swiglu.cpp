// SPDX-License-Identifier: Apache-2.0
// SwiGLU of whole numbers or floats, quantised again: the sums of a product of int8 matrices are brought back by the
// scales of both, one half of each row gates the other, and the result is quantised for the next product. Rows may
// belong to groups, which have scales of their own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ops/norm/parameter.h"
#include "ops/operator.h"
#include "ops/quant/dynamic.h"
#include "ops/quant/factors.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// How the halves of a row lie and meet.
enum Mode : int64_t { kHalves, kPairs };  // kPairs: gates are the even elements, which are cut

struct SwigluQuant final : Operator {
  Tensor self, weight_scale, activate_scale, bias, quant_scale, quant_offset, group_index, out, scale;
  bool activate_left = false, divide = false, reciprocal = false;
  bool counts = true;  ///< group_index holds sizes of groups, else their ends
  std::string quant_mode = "static";
  int64_t mode = kHalves, dtype = -1, axis = -1;
  std::string round_mode = "rint";
  double limit = 7, alpha = 1.702, shift = 1;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + 6 * self.count(); }

 private:
  void check() const;
  void plan_factors();
  const float* dequantised(int64_t row, int64_t group, float* values) const;
  void gate(const float* x, float* parts, float* values) const;
  void run_row(int64_t row, float* x, float* parts, float* values) const;

  Rows x_, scale_;
  WholeRows out_;
  RowNumbers activations_;
  Factors weights_, biases_, smooths_, offsets_;
  Groups groups_;
  bool dynamic_ = false, whole_bias_ = false;
};

void SwigluQuant::check() const {
  require(self.dtype == DType::kInt32 || self.dtype == DType::kFloat || self.dtype == DType::kHalf ||
              self.dtype == DType::kBFloat16,
          "x is {}; use int32, float32, float16 or bfloat16", self);
  require(self.rank() >= 2 && self.shape.back() % 2 == 0, "x is {}; it needs 2 dimensions and an even last one", self);
  require(self.dtype != DType::kInt32 || !absent(weight_scale), "x is {}; whole numbers need weight_scale", self);
  require(quant_mode == "static" || quant_mode == "dynamic", "quant_mode is '{}'; it is static or dynamic", quant_mode);
  require(mode == kHalves || mode == kPairs, "swiglu_mode is {}; it is 0 (halves) or 1 (pairs)", mode);
  require(axis == -1 || axis + 1 == static_cast<int64_t>(self.rank()), "activate_dim is {}; only the last is built",
          axis);
  require(round_mode == "rint", "round_mode is '{}'; only rint is built", round_mode);
  require(dtype == -1 || dtype == static_cast<int64_t>(out.dtype) || dtype == static_cast<int64_t>(DType::kInt4),
          "dst_type is {}, y is {}", dtype, out);
}

void SwigluQuant::plan_factors() {
  groups_.plan(group_index, counts);
  const int64_t groups = groups_.count(), half = x_.length() / 2;
  weights_.plan(weight_scale, groups, x_.length(), "weight_scale");
  require(absent(activate_scale) || activate_scale.count() == x_.count(),
          "activation_scale is {}, x has {} rows: it holds one number for each", activate_scale, x_.count());
  activations_ = RowNumbers(absent(activate_scale) ? Tensor() : activate_scale);
  biases_.plan(bias, groups, x_.length(), "bias");
  whole_bias_ = bias.dtype == DType::kInt32;
  // One number a group where there are as many as groups: [groups] rather than [half].
  const auto by_group = [&](const Tensor& t) { return t.defined() && t.rank() == 1 && t.count() == groups; };
  smooths_.plan(quant_scale, groups, half, "quant_scale", by_group(quant_scale));
  offsets_.plan(quant_offset, groups, half, "quant_offset", by_group(quant_offset));
}

void SwigluQuant::prepare() {
  check();
  dynamic_ = quant_mode == "dynamic";
  const size_t last = self.rank() - 1;
  x_ = Rows(self, last, DType::kFloat);
  Dims shape = self.shape;
  shape[last] /= 2;
  out_.plan(out, shape, "y");
  require(dtype != static_cast<int64_t>(DType::kInt4) || out_.high() == 7, "dst_type is int4, y is {}", out);
  require(!dynamic_ || scale.defined(), "scale is null; dynamic quantisation writes it");
  scale_ = one_per_row(scale, "scale", self, last, DType::kFloat);
  plan_factors();
}

const float* SwigluQuant::dequantised(int64_t row, int64_t group, float* values) const {
  const QuantKernel& kernel = quant_kernel();
  const int64_t n = x_.length();
  const auto* x = static_cast<const float*>(x_.load(row, values));
  if (self.dtype != DType::kInt32) return x;
  if (whole_bias_) kernel.scale(x, {}, biases_.row(group), values, n), x = values;
  kernel.scale(x, weights_.row(group), {}, values, n);
  const auto activation = static_cast<float>(activations_.get(row, 1));
  kernel.scale(values, {&activation, false}, whole_bias_ ? Factor{} : biases_.row(group), values, n);
  return values;
}

void SwigluQuant::gate(const float* x, float* parts, float* values) const {
  const int64_t half = x_.length() / 2;
  if (mode == kHalves) {
    const float* first = x + (activate_left ? 0 : half);
    return quant_kernel().gate(first, x + (activate_left ? half : 0), {}, values, half);
  }
  for (int64_t i = 0; i < half; ++i) parts[i] = x[2 * i], parts[half + i] = x[2 * i + 1];
  const GateForm form{static_cast<float>(alpha), static_cast<float>(shift), static_cast<float>(limit)};
  quant_kernel().gate(parts, parts + half, form, values, half);
}

void SwigluQuant::run_row(int64_t row, float* x, float* parts, float* values) const {
  const int64_t group = groups_.of(row), half = x_.length() / 2;
  const QuantKernel& kernel = quant_kernel();
  float made = 0;
  if (group < 0) {
    std::fill_n(values, half, 0.0f);  // a row that belongs to no group
    out_.store(row, values);
  } else {
    gate(dequantised(row, group, x), parts, values);
    const Factor smooth = smooths_.row(group);
    const bool by_division = divide && !dynamic_ && smooth.given();
    (by_division ? kernel.divide : kernel.scale)(values, smooth, dynamic_ ? Factor{} : offsets_.row(group), values,
                                                 half);
    if (dynamic_)
      made = quantise_row(out_, row, values).scale;
    else
      out_.store(row, values);
  }
  if (scale.defined()) store_number(scale_, row, reciprocal && made != 0 ? 1 / made : made);
}

void SwigluQuant::run() {
  if (x_.count() == 0 || x_.length() == 0) return;
  weights_.load(), biases_.load(), smooths_.load(), offsets_.load(), groups_.load();
  for_rows(x_, [this](int64_t begin, int64_t end) {
    const Scratch<float> x(x_.length()), parts(x_.length()), values(x_.length() / 2);
    for (int64_t row = begin; row < end; ++row) run_row(row, x, parts, values);
  });
}

NPU_OPERATOR(SwigluQuant, "swiglu_quant", "quant", in<&SwigluQuant::self>("self"),
             optional<&SwigluQuant::weight_scale>("weight_scale"),
             optional<&SwigluQuant::activate_scale>("activate_scale"), optional<&SwigluQuant::bias>("bias"),
             optional<&SwigluQuant::quant_scale>("quant_scale"), optional<&SwigluQuant::quant_offset>("quant_offset"),
             optional<&SwigluQuant::group_index>("group_index"), attr<&SwigluQuant::activate_left>("activate_left"),
             attr<&SwigluQuant::divide>("divide"), attr<&SwigluQuant::reciprocal>("reciprocal"),
             attr<&SwigluQuant::counts>("counts"), attr<&SwigluQuant::quant_mode>("quant_mode"),
             attr<&SwigluQuant::mode>("mode"), attr<&SwigluQuant::dtype>("dtype"), attr<&SwigluQuant::axis>("axis"),
             attr<&SwigluQuant::round_mode>("round_mode"), attr<&SwigluQuant::limit>("limit"),
             attr<&SwigluQuant::alpha>("alpha"), attr<&SwigluQuant::shift>("shift"), out<&SwigluQuant::out>("out"),
             optional_out<&SwigluQuant::scale>("scale"));

}  // namespace
}  // namespace npu::ops
