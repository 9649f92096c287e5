// SPDX-License-Identifier: Apache-2.0
// RMS norm, alone and behind the sum of two tensors, and its gradient.
#include "ops/norm/norm_rows.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

// out = x / rms(x) * (gamma + offset), x = self or self + residual. Gemma's variant has offset 1.
struct RmsNorm final : RowNormOperator<RowNorm> {
  Tensor self, residual, gamma, out, rstd, sum, cast;
  double eps = 1e-6;
  double offset = 0;
  Move convert;

  void prepare() override {
    // The narrower of the two results is rounded from the wider one.
    // The fields stay as they are: a repeatable executor's addresses go into them.
    const bool swapped = cast.defined() && size_of(cast.dtype) > size_of(out.dtype);
    const Tensor &wide = swapped ? cast : out, &narrow = swapped ? out : cast;
    engine.plan({.self = self,
                 .residual = residual,
                 .weight = gamma,
                 .out = wide,
                 .rstd = rstd,
                 .sum = sum,
                 .axes = static_cast<int64_t>(gamma.rank()),
                 .rms = true,
                 .eps = eps,
                 .weight_offset = offset});
    if (cast.defined()) convert.plan(wide, narrow);
  }
  void run() override {
    engine.run();
    if (cast.defined()) convert.run();
  }
};

struct RmsNormGrad final : RowNormOperator<RowNormGradient> {
  Tensor grad_output, self, rstd, gamma, grad_input, grad_gamma;

  void prepare() override {
    const auto axes = static_cast<int64_t>(gamma.rank());
    engine.plan({.grad_output = grad_output,
                 .self = self,
                 .rstd = rstd,
                 .weight = gamma,
                 .grad_self = grad_input,
                 .grad_weight = grad_gamma,
                 .axes = axes,
                 .rms = true});
  }
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
