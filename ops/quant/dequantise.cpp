// SPDX-License-Identifier: Apache-2.0
// Whole numbers back to floats: (x + offset) * scale, and sums of a product of int8 matrices by the scales of both.
#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/quant/whole_rows.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

void require_half(const Tensor& t) {
  require(t.dtype == DType::kHalf || t.dtype == DType::kBFloat16, "the output is {}; use float16 or bfloat16", t);
}

// Scales and offsets have one number, or one for each column.
struct AntiQuant final : Operator {
  Tensor self, scale, offset, out;
  bool sqrt_mode = false;
  DType dtype = DType::kUndefined;

  void prepare() override {
    require_half(out);
    require(dtype == DType::kUndefined || dtype == out.dtype, "dst_type is {}, the output is {}", dtype, out);
    require(!absent(scale), "scale has no elements; one number at least is needed");
    require(self.dtype == DType::kInt8 || self.dtype == DType::kInt4 || self.dtype == DType::kInt32,
            "x is {}; use int8, int4, or int32 with eight int4 in each", self);
    x_.plan(self, out.shape, "x");
    require(self.dtype != DType::kInt32 || self.shape != out.shape,
            "x is {}, the output is {}: an int32 holds eight numbers", self, out);
    out_ = Rows(out, out.rank() == 0 ? 0 : out.rank() - 1, DType::kFloat);
    scales_.plan(scale, 1, x_.length(), "scale");
    offsets_.plan(offset, 1, x_.length(), "offset");
  }
  void run() override {
    if (out.count() == 0) return;
    scales_.load(), offsets_.load();
    for_rows(out_, [this](int64_t begin, int64_t end) {
      const Scratch<float> values(x_.length());
      for (int64_t row = begin; row < end; ++row) run_row(row, values);
    });
  }
  int64_t cost() const override { return 500 + out.count(); }

 private:
  void run_row(int64_t row, float* values) const {
    const QuantKernel& kernel = quant_kernel();
    const int64_t n = x_.length();
    x_.load(row, values);
    kernel.scale(values, {}, offsets_.row(0), values, n);
    if (sqrt_mode) kernel.scale(values, scales_.row(0), {}, values, n);
    auto* target = static_cast<float*>(out_.target(row, values));
    kernel.scale(values, scales_.row(0), {}, target, n);
    out_.store(row, target);
  }

  WholeRows x_;
  Rows out_;
  Factors scales_, offsets_;
};

// (x + bias) * weight_scale * activate_scale with an int32 bias, else x * weight_scale * activate_scale + bias.
struct DequantBias final : Operator {
  Tensor self, weight_scale, activate_scale, bias, out;
  int64_t output_dtype = -1;

  void prepare() override {
    require_half(out);
    require(output_dtype == -1 || output_dtype == static_cast<int64_t>(out.dtype), "output_dtype is {}, out is {}",
            output_dtype, out);
    require(self.rank() == 2 && self.dtype == DType::kInt32, "x is {}; use int32 [m, n]", self);
    check_shape(out, "out", self.shape);
    const int64_t rows = self.shape[0], columns = self.shape[1];
    x_ = Rows(self, 1, DType::kFloat);
    out_ = Rows(out, 1, DType::kFloat);
    weight_scales_.plan(weight_scale, 1, columns, "weight_scale");
    activate_scales_.plan(activate_scale, rows, 1, "activate_scale", true);
    biases_.plan(bias, 1, columns, "bias");
  }
  void run() override {
    if (self.count() == 0) return;
    weight_scales_.load(), activate_scales_.load(), biases_.load();
    for_rows(x_, [this](int64_t begin, int64_t end) {
      const Scratch<float> values(x_.length());
      for (int64_t row = begin; row < end; ++row) run_row(row, values);
    });
  }
  int64_t cost() const override { return 500 + self.count(); }

 private:
  void run_row(int64_t row, float* values) const {
    const QuantKernel& kernel = quant_kernel();
    const int64_t n = x_.length();
    const bool first = bias.dtype == DType::kInt32;
    const auto* x = static_cast<const float*>(x_.load(row, values));
    if (first) kernel.scale(x, {}, biases_.row(0), values, n), x = values;
    kernel.scale(x, weight_scales_.row(0), {}, values, n);
    kernel.scale(values, activate_scales_.row(row), first ? Factor{} : biases_.row(0), values, n);
    out_.store(row, values);
  }

  Rows x_, out_;
  Factors weight_scales_, activate_scales_, biases_;
};

NPU_OPERATOR(AntiQuant, "anti_quant", "quant", in<&AntiQuant::self>("self"), in<&AntiQuant::scale>("scale"),
             optional<&AntiQuant::offset>("offset"), attr<&AntiQuant::sqrt_mode>("sqrt_mode"),
             attr<&AntiQuant::dtype>("dtype"), out<&AntiQuant::out>("out"));
NPU_OPERATOR(DequantBias, "dequant_bias", "quant", in<&DequantBias::self>("self"),
             in<&DequantBias::weight_scale>("weight_scale"), optional<&DequantBias::activate_scale>("activate_scale"),
             optional<&DequantBias::bias>("bias"), attr<&DequantBias::output_dtype>("output_dtype"),
             out<&DequantBias::out>("out"));

}  // namespace
}  // namespace npu::ops
