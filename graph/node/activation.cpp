// SPDX-License-Identifier: Apache-2.0
// Activations with numbers of their own, softmax, biases, and the gradients of all of them.
#include "graph/node/layout.h"
#include "graph/node/point.h"

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

NPU_NODE("Relu6", relu6, "hardtanh");
NPU_NODE("LeakyRelu", leaky_relu, "leaky_relu");
NPU_NODE("Elu", elu, "elu");
NPU_NODE("Selu", selu, "elu");
NPU_NODE("ReluGrad", relu_grad, "relu_backward");
NPU_NODE("Relu6Grad", relu_grad, "clipped_relu_backward");
NPU_NODE("LeakyReluGrad", leaky_relu_grad, "leaky_relu_backward");
NPU_NODE("EluGrad", elu_grad, "elu_backward_result");
NPU_NODE("SeluGrad", selu_grad, "selu_backward");
NPU_NODE("Softmax", softmax, "softmax");
NPU_NODE("LogSoftmax", softmax, "log_softmax");
NPU_NODE("BiasAdd", bias_add);
NPU_NODE("BiasAddV1", bias_add);
NPU_NODE("BiasAddGrad", bias_add_grad);

constexpr std::string_view kSelf[] = {"self"};
constexpr std::string_view kGradient[] = {"grad_output", "self"};
constexpr std::string_view kFromResult[] = {"grad_output", "self_or_result"};

}  // namespace

std::optional<PointNode> activation_node(const Node& node) {
  const auto number = [&] { return std::pair<std::string_view, double>("negative_slope", slope(node.attributes)); };
  if (node.op == "ReluGrad") return PointNode{"relu_backward", kGradient};
  if (node.op == "Relu6") return PointNode{"hardtanh", kSelf, false, false, {{"min_val", 0.0}, {"max_val", 6.0}}};
  if (node.op == "Relu6Grad") return PointNode{"clipped_relu_backward", kGradient};
  if (node.op == "LeakyRelu") return PointNode{"leaky_relu", kSelf, false, false, {number()}};
  if (node.op == "LeakyReluGrad") return PointNode{"leaky_relu_backward", kGradient, false, false, {number()}};
  if (node.op == "Elu") return PointNode{"elu", kSelf};
  if (node.op == "EluGrad") return PointNode{"elu_backward_result", kFromResult};
  return {};
}

}  // namespace npu::graph
