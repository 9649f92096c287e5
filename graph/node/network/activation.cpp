// SPDX-License-Identifier: Apache-2.0
// Activations with numbers of their own, softmax, biases, and the gradients of all of them.
#include "graph/node/layout.h"
#include "graph/plan/lowering.h"

namespace npu::graph {
namespace {

constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

double slope(const Attributes& attributes) { return attributes.get_or<double>("alpha", 0.2); }
double slope(const Lowering& l) { return slope(l.attributes()); }

OperatorCall unary(Lowering& l) {
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  OperatorCall call = l.call(l.target());
  call.set("self", l.input(0)).set("out", out);
  return call;
}

void relu6(Lowering& l) { unary(l).set("min_val", number(Scalar(0))).set("max_val", number(Scalar(6))); }
void leaky_relu(Lowering& l) { unary(l).set("negative_slope", number(Scalar(slope(l)))); }
void elu(Lowering& l) { unary(l); }
void selu(Lowering& l) {
  unary(l).set("alpha", number(Scalar(kSeluScaleAlpha / kSeluScale))).set("scale", number(Scalar(kSeluScale)));
}

/// Inputs: the gradient, and what went into the activation or came out of it.
OperatorCall gradient(Lowering& l, std::string_view second) {
  require(l.shape(0) == l.shape(1), "the gradient is {}, the other input {}: the shapes must be equal", l.shape(0),
          l.shape(1));
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  OperatorCall call = l.call(l.target());
  call.set("grad_output", l.input(0)).set(second, l.input(1)).set("out", out);
  return call;
}

void relu_grad(Lowering& l) { gradient(l, "self"); }
void leaky_relu_grad(Lowering& l) { gradient(l, "self").set("negative_slope", number(Scalar(slope(l)))); }
void elu_grad(Lowering& l) { gradient(l, "self_or_result"); }
void selu_grad(Lowering& l) {
  gradient(l, "result").set("scale_alpha", number(Scalar(kSeluScaleAlpha))).set("scale", number(Scalar(kSeluScale)));
}

void softmax(Lowering& l) {
  require(!l.shape(0).empty(), "logits is a scalar: it needs a dimension of classes");
  unary(l).set("dim", int64_t{-1});
}

void bias_add(Lowering& l) {
  const bool last = channels_last(l);
  const Dims shape = l.shape(0);
  const Planned bias = along_channels(l.input(1), shape, last), out = l.make(0, l.dtype(0), shape);
  l.call("add").set("self", l.input(0)).set("other", bias).set("out", out);
}

void bias_add_grad(Lowering& l) {
  const bool last = channels_last(l);
  const Dims& shape = l.shape(0);
  require(shape.size() >= 2, "out_backprop is {}; it needs at least 2 dimensions", shape);
  const size_t channel = last ? shape.size() - 1 : 1;
  std::vector<int64_t> dim;
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != channel) dim.push_back(static_cast<int64_t>(d));
  l.call("sum").set("self", l.input(0)).set("dim", dim).set("out", l.make(0, l.dtype(0), {shape[channel]}));
}

constexpr std::string_view kSelf[] = {"self"};
constexpr std::string_view kGradient[] = {"grad_output", "self"};
constexpr std::string_view kFromResult[] = {"grad_output", "self_or_result"};

Numbers slope_number(const Attributes& attributes) { return {{"negative_slope", slope(attributes)}}; }
Numbers zero_to_six(const Attributes&) { return {{"min_val", 0.0}, {"max_val", 6.0}}; }

constexpr PointLower clipped{relu6, {.fields = kSelf, .numbers = zero_to_six}};
constexpr PointLower leaky{leaky_relu, {.fields = kSelf, .numbers = slope_number}};
constexpr PointLower exponential{elu, {kSelf}};
constexpr PointLower of_input{relu_grad, {kGradient}};
constexpr PointLower leaky_of_input{leaky_relu_grad, {.fields = kGradient, .numbers = slope_number}};
constexpr PointLower of_result{elu_grad, {kFromResult}};

NPU_NODE("Relu6", clipped, "hardtanh");
NPU_NODE("LeakyRelu", leaky, "leaky_relu");
NPU_NODE("Elu", exponential, "elu");
NPU_NODE("Selu", selu, "elu");
NPU_NODE("ReluGrad", of_input, "relu_backward");
NPU_NODE("Relu6Grad", of_input, "clipped_relu_backward");
NPU_NODE("LeakyReluGrad", leaky_of_input, "leaky_relu_backward");
NPU_NODE("EluGrad", of_result, "elu_backward_result");
NPU_NODE("SeluGrad", selu_grad, "selu_backward");
NPU_NODE(Kind::kSoftmax, softmax, "softmax");
NPU_NODE("LogSoftmax", softmax, "log_softmax");
NPU_NODE(Kind::kBias, bias_add, {}, Part::kBias);
NPU_NODE("BiasAddV1", bias_add);
NPU_NODE(Kind::kBiasGrad, bias_add_grad);

}  // namespace
}  // namespace npu::graph
