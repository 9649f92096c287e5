// SPDX-License-Identifier: Apache-2.0
// The product with quantised weights, whose result is quantised again where scales are given for it.
#include <memory>
#include <vector>

#include "ops/operator.h"
#include "ops/quant/column_scale.h"
#include "ops/quant/whole_rows.h"
#include "ops/runner/call.h"
#include "ops/runner/delegate.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// out = (self @ ((weight + offset) * scale) + bias) * quant_scale + quant_offset
struct WeightQuantMatmulQuant final : Delegate {
  Tensor self, weight, scale, offset, quant_scale, quant_offset, bias, out;
  int64_t group_size = 0;

  void prepare() override;
  void run() override;

 private:
  Tensor plan_quantised();

  std::vector<float> product_;  ///< before it is quantised
  Rows rows_;
  WholeRows out_;
  ColumnScale scales_;
  Factors offsets_;
};

// The product in float32: it is rounded only when it becomes whole.
Tensor WeightQuantMatmulQuant::plan_quantised() {
  require(out.dtype == DType::kInt8, "quantScale is given, the output is {}; use int8", out);
  require(out.rank() >= 1, "the output is {}; it needs 2 dimensions at least", out);
  product_.resize(static_cast<size_t>(out.count()));
  const Tensor made = make_tensor(product_.data(), DType::kFloat, out.shape);
  rows_ = Rows(made, out.rank() - 1, DType::kFloat);
  out_.plan(out, out.shape, "the output");
  scales_.plan(quant_scale, 1, out.shape.back(), "quantScale");
  offsets_.plan(quant_offset, 1, out.shape.back(), "quantOffset");
  return made;
}

void WeightQuantMatmulQuant::prepare() {
  restart();
  const bool plain = absent(quant_scale);
  require(!plain || absent(quant_offset), "quantOffset is given without quantScale; give both or none");
  require(!plain || out.dtype == self.dtype, "the output is {}, x is {}: they must be of one type", out.dtype,
          self.dtype);
  const Tensor made = plain ? out : plan_quantised();
  step("weight_quant_matmul", with("self", self), with("weight", weight), with("scale", scale), with("offset", offset),
       with("bias", bias), with("group_size", group_size), with("out", made));
}

void WeightQuantMatmulQuant::run() {
  Delegate::run();
  if (absent(quant_scale) || out.count() == 0) return;
  offsets_.load();
  scales_.load(offsets_.row(0));
  for_rows(rows_, [this](int64_t begin, int64_t end) {
    const Scratch<float> values(rows_.length());
    for (int64_t row = begin; row < end; ++row) {
      const auto* x = static_cast<const float*>(rows_.load(row, nullptr));
      quant_kernel().scale(x, scales_.scale(0, 0), scales_.shift(0), values, rows_.length());
      out_.store(row, values);
    }
  });
}

NPU_OPERATOR(WeightQuantMatmulQuant, "weight_quant_matmul_quant", "quant", in<&WeightQuantMatmulQuant::self>("self"),
             in<&WeightQuantMatmulQuant::weight>("weight"), in<&WeightQuantMatmulQuant::scale>("scale"),
             optional<&WeightQuantMatmulQuant::offset>("offset"),
             optional<&WeightQuantMatmulQuant::quant_scale>("quant_scale"),
             optional<&WeightQuantMatmulQuant::quant_offset>("quant_offset"),
             optional<&WeightQuantMatmulQuant::bias>("bias"), attr<&WeightQuantMatmulQuant::group_size>("group_size"),
             out<&WeightQuantMatmulQuant::out>("out"));

}  // namespace
}  // namespace npu::ops
