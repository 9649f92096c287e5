// SPDX-License-Identifier: Apache-2.0
// RMS norm, alone and behind the sum of two tensors, and its gradient.
#include "ops/norm/norm_rows.h"
#include "ops/operator.h"
#include "ops/vector/move.h"

namespace npu::ops {
namespace {

// out = x / rms(x) * (gamma + offset), x = self or self + residual. Gemma's variant has offset 1.
struct RmsNorm final : Operator {
  Tensor self, residual, gamma, out, rstd, sum, cast;
  double eps = 1e-6;
  double offset = 0;
  RowNorm norm;
  Move convert;

  void prepare() override {
    // The narrower of the two results is rounded from the wider one.
    if (cast.defined() && size_of(cast.dtype) > size_of(out.dtype)) std::swap(cast, out);
    RowNormArguments a;
    a.self = self;
    a.residual = residual;
    a.weight = gamma;
    a.out = out;
    a.rstd = rstd;
    a.sum = sum;
    a.eps = eps;
    a.rms = true;
    a.weight_offset = offset;
    a.axes = static_cast<int64_t>(gamma.rank());
    norm.plan(a);
    if (cast.defined()) convert.plan(out, cast);
  }
  void run() override {
    norm.run();
    if (cast.defined()) convert.run();
  }
  int64_t cost() const override { return norm.cost(); }
};

struct RmsNormGrad final : Operator {
  Tensor grad_output, self, rstd, gamma, grad_input, grad_gamma;
  RowNormGradient gradient;

  void prepare() override {
    RowNormGradientArguments a;
    a.grad_output = grad_output;
    a.self = self;
    a.rstd = rstd;
    a.weight = gamma;
    a.grad_self = grad_input;
    a.grad_weight = grad_gamma;
    a.rms = true;
    a.axes = static_cast<int64_t>(gamma.rank());
    gradient.plan(a);
  }
  void run() override { gradient.run(); }
  int64_t cost() const override { return gradient.cost(); }
};

NPU_OPERATOR(RmsNorm, "rms_norm", "norm", in<&RmsNorm::self>("self"), optional<&RmsNorm::residual>("residual"),
             in<&RmsNorm::gamma>("gamma"), attr<&RmsNorm::eps>("eps"), attr<&RmsNorm::offset>("offset"),
             out<&RmsNorm::out>("out"), optional_out<&RmsNorm::rstd>("rstd"), optional_out<&RmsNorm::sum>("sum"),
             optional_out<&RmsNorm::cast>("cast"));
NPU_OPERATOR(RmsNormGrad, "rms_norm_grad", "norm", in<&RmsNormGrad::grad_output>("grad_output"),
             in<&RmsNormGrad::self>("self"), in<&RmsNormGrad::rstd>("rstd"), in<&RmsNormGrad::gamma>("gamma"),
             out<&RmsNormGrad::grad_input>("grad_input"), out<&RmsNormGrad::grad_gamma>("grad_gamma"));

}  // namespace
}  // namespace npu::ops
