// SPDX-License-Identifier: Apache-2.0
// Layer normalisation that hands out the variance of each row where layer_norm hands out its inverse root, and the
// gradient from it: what clients of the single-operator interface run.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct LayerNormMoments final : Delegate {
  Tensor self, weight, bias, out, mean, variance;
  int64_t axis = 0, params_axis = 0;
  double eps = 1e-7;

  void prepare() override {
    restart();
    const auto rank = static_cast<int64_t>(self.rank());
    const int64_t first = axis < 0 ? axis + rank : axis;
    require(first >= 0 && first < rank, "begin_norm_axis is {}, self is {}: it must name an axis", axis, self);
    require(params_axis == axis, "begin_params_axis is {}, begin_norm_axis {}: both must be the same", params_axis,
            axis);
    const std::vector<int64_t> sizes(self.shape.begin() + first, self.shape.end());
    std::vector<int64_t> axes;
    for (int64_t i = first; i < rank; ++i) axes.push_back(i);
    step("layer_norm", with("self", self), with("normalized_shape", sizes), with("weight", weight), with("bias", bias),
         with("eps", eps), with("out", out), with("mean", mean));
    // Taken a second time: layer_norm hands out the inverse root with eps in it, which does not lead back exactly.
    step("var", with("self", self), with("dim", axes), with("correction", int64_t{0}), with("keepdim", true),
         with("out", variance));
  }
};

struct LayerNormMomentsGrad final : Delegate {
  Tensor grad_output, self, variance, mean, weight, grad_input, grad_weight, grad_bias;

  void prepare() override {
    restart();
    require(weight.rank() <= self.rank() && weight.rank() > 0,
            "gamma is {}, x is {}: gamma has the sizes of the normalised axes", weight, self);
    // In float32 whatever the variance's type: the root of a half would lose digits that every element is multiplied
    // with.
    inverse_.resize(static_cast<size_t>(variance.count()));
    const Tensor rstd = make_tensor(inverse_.data(), DType::kFloat, variance.shape);
    step("add", with("self", Operand{variance, Scalar()}), with("other", Operand{Tensor(), Scalar(kEpsilon)}),
         with("out", rstd));
    step("rsqrt", with("self", Operand{rstd, Scalar()}), with("out", rstd));
    const std::vector<int64_t> sizes(weight.shape.begin(), weight.shape.end());
    step("layer_norm_backward", with("grad_output", grad_output), with("self", self), with("normalized_shape", sizes),
         with("mean", mean), with("rstd", rstd), with("weight", weight), with("grad_input", grad_input),
         with("grad_weight", grad_weight), with("grad_bias", grad_bias));
  }

 private:
  static constexpr double kEpsilon = 1e-5;  // the type has no attribute for it; this is torch's
  std::vector<float> inverse_;
};

NPU_OPERATOR(LayerNormMoments, "layer_norm_moments", "norm", in<&LayerNormMoments::self>("self"),
             optional<&LayerNormMoments::weight>("weight"), optional<&LayerNormMoments::bias>("bias"),
             attr<&LayerNormMoments::axis>("axis"), attr<&LayerNormMoments::params_axis>("params_axis"),
             attr<&LayerNormMoments::eps>("eps"), out<&LayerNormMoments::out>("out"),
             out<&LayerNormMoments::mean>("mean"), out<&LayerNormMoments::variance>("variance"));
NPU_OPERATOR(LayerNormMomentsGrad, "layer_norm_moments_grad", "norm",
             in<&LayerNormMomentsGrad::grad_output>("grad_output"), in<&LayerNormMomentsGrad::self>("self"),
             in<&LayerNormMomentsGrad::variance>("variance"), in<&LayerNormMomentsGrad::mean>("mean"),
             in<&LayerNormMomentsGrad::weight>("weight"), out<&LayerNormMomentsGrad::grad_input>("grad_input"),
             out<&LayerNormMomentsGrad::grad_weight>("grad_weight"),
             out<&LayerNormMomentsGrad::grad_bias>("grad_bias"));

}  // namespace
}  // namespace npu::ops
