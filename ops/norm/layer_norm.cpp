// SPDX-License-Identifier: Apache-2.0
// Layer norm, alone and behind the sum of two tensors, and its gradients.
#include "ops/norm/norm_rows.h"

namespace npu::ops {
namespace {

void check_normalized_shape(const Tensor& self, const std::vector<int64_t>& shape) {
  const size_t lead = self.rank() - std::min(self.rank(), shape.size());
  bool fits = !shape.empty() && shape.size() <= self.rank();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = self.shape[lead + i] == shape[i];
  require(fits, "self is {}, normalized_shape is {}: it must be the last sizes of self", self,
          Dims(std::span<const int64_t>(shape)));
}

// What the mask leaves out is absent to the engine, which then computes nothing for it.
Tensor wanted(const Tensor& t, const std::vector<bool>& mask, size_t which) {
  return which < mask.size() && !mask[which] ? Tensor() : t;
}

struct LayerNorm final : RowNormOperator<RowNorm> {
  Tensor self, weight, bias, out, mean, rstd;
  std::vector<int64_t> normalized_shape;
  double eps = 1e-5;

  void prepare() override {
    check_normalized_shape(self, normalized_shape);
    const auto axes = static_cast<int64_t>(normalized_shape.size());
    engine.plan({.self = self,
                 .weight = weight,
                 .bias = bias,
                 .out = out,
                 .mean = mean,
                 .rstd = rstd,
                 .axes = axes,
                 .eps = eps});
  }
};

struct LayerNormBackward final : RowNormOperator<RowNormGradient> {
  Tensor grad_output, self, mean, rstd, weight, bias, grad_input, grad_weight, grad_bias;
  std::vector<int64_t> normalized_shape;
  std::vector<bool> output_mask{true, true, true};

  void prepare() override {
    check_normalized_shape(self, normalized_shape);
    engine.plan({.grad_output = grad_output,
                 .self = self,
                 .mean = mean,
                 .rstd = rstd,
                 .weight = weight,
                 .grad_self = wanted(grad_input, output_mask, 0),
                 .grad_weight = wanted(grad_weight, output_mask, 1),
                 .grad_bias = wanted(grad_bias, output_mask, 2),
                 .axes = static_cast<int64_t>(normalized_shape.size())});
  }
};

// The same without saved statistics: they are taken from self again.
struct LayerNormGradient final : RowNormOperator<RowNormGradient> {
  Tensor grad_output, self, weight, grad_input, grad_weight, grad_bias;
  std::vector<int64_t> normalized_shape;
  double eps = 1e-5;

  void prepare() override {
    check_normalized_shape(self, normalized_shape);
    engine.plan({.grad_output = grad_output,
                 .self = self,
                 .weight = weight,
                 .grad_self = grad_input,
                 .grad_weight = grad_weight,
                 .grad_bias = grad_bias,
                 .axes = static_cast<int64_t>(normalized_shape.size()),
                 .eps = eps});
  }
};

// out = layer_norm(x1 + x2 + bias) * gamma + beta; `sum` gets what was normalised.
struct AddLayerNorm final : RowNormOperator<RowNorm> {
  Tensor x1, x2, gamma, beta, bias, out, mean, rstd, sum;
  double eps = 1e-5;
  bool additional_output = false;

  void prepare() override {
    const auto axes = static_cast<int64_t>(gamma.rank());
    engine.plan({.self = x1,
                 .residual = x2,
                 .residual_bias = bias,
                 .weight = gamma,
                 .bias = beta,
                 .out = out,
                 .mean = mean,
                 .rstd = rstd,
                 .sum = additional_output ? sum : Tensor(),
                 .axes = axes,
                 .eps = eps});
  }
};

// x1 and x2 have one gradient, that of their sum; grad_sum is what came to the sum by other ways.
struct AddLayerNormGrad final : RowNormOperator<RowNormGradient> {
  Tensor grad_output, x1, x2, rstd, mean, gamma, grad_sum, grad_input, grad_gamma, grad_beta;

  void prepare() override {
    const auto axes = static_cast<int64_t>(gamma.rank());
    engine.plan({.grad_output = grad_output,
                 .self = x1,
                 .residual = x2,
                 .mean = mean,
                 .rstd = rstd,
                 .weight = gamma,
                 .extra = grad_sum,
                 .grad_self = grad_input,
                 .grad_weight = grad_gamma,
                 .grad_bias = grad_beta,
                 .axes = axes});
  }
};

NPU_OPERATOR(LayerNorm, "layer_norm", "norm", in<&LayerNorm::self>("self"),
             in<&LayerNorm::normalized_shape>("normalized_shape"), optional<&LayerNorm::weight>("weight"),
             optional<&LayerNorm::bias>("bias"), attr<&LayerNorm::eps>("eps"), out<&LayerNorm::out>("out"),
             optional_out<&LayerNorm::mean>("mean"), optional_out<&LayerNorm::rstd>("rstd"));
NPU_OPERATOR(LayerNormBackward, "layer_norm_backward", "norm", in<&LayerNormBackward::grad_output>("grad_output"),
             in<&LayerNormBackward::self>("self"), in<&LayerNormBackward::normalized_shape>("normalized_shape"),
             in<&LayerNormBackward::mean>("mean"), in<&LayerNormBackward::rstd>("rstd"),
             optional<&LayerNormBackward::weight>("weight"), optional<&LayerNormBackward::bias>("bias"),
             attr<&LayerNormBackward::output_mask>("output_mask"),
             optional_out<&LayerNormBackward::grad_input>("grad_input"),
             optional_out<&LayerNormBackward::grad_weight>("grad_weight"),
             optional_out<&LayerNormBackward::grad_bias>("grad_bias"));
NPU_OPERATOR(LayerNormGradient, "layer_norm_gradient", "norm", in<&LayerNormGradient::grad_output>("grad_output"),
             in<&LayerNormGradient::self>("self"), in<&LayerNormGradient::normalized_shape>("normalized_shape"),
             optional<&LayerNormGradient::weight>("weight"), attr<&LayerNormGradient::eps>("eps"),
             optional_out<&LayerNormGradient::grad_input>("grad_input"),
             optional_out<&LayerNormGradient::grad_weight>("grad_weight"),
             optional_out<&LayerNormGradient::grad_bias>("grad_bias"));
NPU_OPERATOR(AddLayerNorm, "add_layer_norm", "norm", in<&AddLayerNorm::x1>("x1"), in<&AddLayerNorm::x2>("x2"),
             in<&AddLayerNorm::gamma>("gamma"), optional<&AddLayerNorm::beta>("beta"),
             optional<&AddLayerNorm::bias>("bias"), attr<&AddLayerNorm::eps>("eps"),
             attr<&AddLayerNorm::additional_output>("additional_output"), out<&AddLayerNorm::out>("out"),
             optional_out<&AddLayerNorm::mean>("mean"), optional_out<&AddLayerNorm::rstd>("rstd"),
             optional_out<&AddLayerNorm::sum>("sum"));
NPU_OPERATOR(AddLayerNormGrad, "add_layer_norm_grad", "norm", in<&AddLayerNormGrad::grad_output>("grad_output"),
             in<&AddLayerNormGrad::x1>("x1"), in<&AddLayerNormGrad::x2>("x2"), in<&AddLayerNormGrad::rstd>("rstd"),
             in<&AddLayerNormGrad::mean>("mean"), in<&AddLayerNormGrad::gamma>("gamma"),
             optional<&AddLayerNormGrad::grad_sum>("grad_sum"), out<&AddLayerNormGrad::grad_input>("grad_input"),
             out<&AddLayerNormGrad::grad_gamma>("grad_gamma"), out<&AddLayerNormGrad::grad_beta>("grad_beta"));

}  // namespace
}  // namespace npu::ops
