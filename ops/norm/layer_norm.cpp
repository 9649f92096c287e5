// SPDX-License-Identifier: Apache-2.0
// Layer norm, alone and behind the sum of two tensors, and its gradients.
#include "ops/norm/norm_rows.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

void check_normalized_shape(const Tensor& self, const std::vector<int64_t>& shape) {
  const size_t lead = self.rank() - std::min(self.rank(), shape.size());
  bool fits = !shape.empty() && shape.size() <= self.rank();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = self.shape[lead + i] == shape[i];
  require(fits, "self is {}, normalized_shape is {}: it must be the last sizes of self", self,
          Dims(std::span<const int64_t>(shape)));
}

Tensor wanted(const Tensor& t, const std::vector<bool>& mask, size_t which) {
  return which < mask.size() && !mask[which] ? Tensor() : t;
}

struct LayerNorm final : Operator {
  Tensor self, weight, bias, out, mean, rstd;
  std::vector<int64_t> normalized_shape;
  double eps = 1e-5;
  RowNorm norm;

  void prepare() override {
    check_normalized_shape(self, normalized_shape);
    RowNormArguments a;
    a.self = self;
    a.weight = weight;
    a.bias = bias;
    a.out = out;
    a.mean = mean;
    a.rstd = rstd;
    a.eps = eps;
    a.axes = static_cast<int64_t>(normalized_shape.size());
    norm.plan(a);
  }
  void run() override { norm.run(); }
  int64_t cost() const override { return norm.cost(); }
};

struct LayerNormBackward final : Operator {
  Tensor grad_output, self, mean, rstd, weight, bias, grad_input, grad_weight, grad_bias;
  std::vector<int64_t> normalized_shape;
  std::vector<bool> output_mask{true, true, true};
  RowNormGradient gradient;

  void prepare() override {
    check_normalized_shape(self, normalized_shape);
    RowNormGradientArguments a;
    a.grad_output = grad_output;
    a.self = self;
    a.mean = mean;
    a.rstd = rstd;
    a.weight = weight;
    a.grad_self = wanted(grad_input, output_mask, 0);
    a.grad_weight = wanted(grad_weight, output_mask, 1);
    a.grad_bias = wanted(grad_bias, output_mask, 2);
    a.axes = static_cast<int64_t>(normalized_shape.size());
    gradient.plan(a);
  }
  void run() override { gradient.run(); }
  int64_t cost() const override { return gradient.cost(); }
};

// out = layer_norm(x1 + x2 + bias) * gamma + beta; `sum` gets what was normalised.
struct AddLayerNorm final : Operator {
  Tensor x1, x2, gamma, beta, bias, out, mean, rstd, sum;
  double eps = 1e-5;
  bool additional_output = false;
  RowNorm norm;

  void prepare() override {
    RowNormArguments a;
    a.self = x1;
    a.residual = x2;
    a.residual_bias = bias;
    a.weight = gamma;
    a.bias = beta;
    a.out = out;
    a.mean = mean;
    a.rstd = rstd;
    if (additional_output) a.sum = sum;
    a.eps = eps;
    a.axes = static_cast<int64_t>(gamma.rank());
    norm.plan(a);
  }
  void run() override { norm.run(); }
  int64_t cost() const override { return norm.cost(); }
};

struct AddLayerNormGrad final : Operator {
  Tensor grad_output, x1, x2, rstd, mean, gamma, grad_sum, grad_input, grad_gamma, grad_beta;
  RowNormGradient gradient;

  void prepare() override {
    RowNormGradientArguments a;
    a.grad_output = grad_output;
    a.self = x1;
    a.residual = x2;
    a.mean = mean;
    a.rstd = rstd;
    a.weight = gamma;
    a.extra = grad_sum;
    a.grad_self = grad_input;
    a.grad_weight = grad_gamma;
    a.grad_bias = grad_beta;
    a.axes = static_cast<int64_t>(gamma.rank());
    gradient.plan(a);
  }
  void run() override { gradient.run(); }
  int64_t cost() const override { return gradient.cost(); }
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
