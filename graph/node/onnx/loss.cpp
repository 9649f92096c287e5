// SPDX-License-Identifier: Apache-2.0
// Losses of ONNX over scores [n, classes, …] and labels [n, …].
#include <limits>

#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

int64_t reduction_of(const Lowering& l) {
  const std::string name = text_attribute(l, "reduction", "mean");
  require(name == "none" || name == "mean" || name == "sum", "reduction is '{}'; none, mean and sum are known", name);
  return name == "none" ? 0 : name == "mean" ? 1 : 2;
}

/// Picks the log probability that each label names; labels equal to ignore_index count for nothing.
void pick(Lowering& l, const Planned& log_probabilities) {
  const Dims& shape = log_probabilities.shape();
  require(shape.size() >= 2, "the input is {}; it needs batch and classes", shape);
  const int64_t reduction = reduction_of(l);
  Dims labels = shape;
  labels.erase(1);
  require(l.shape(at(l, 1)) == labels, "the input is {}, the labels are {}; they must be {}", shape, l.shape(at(l, 1)),
          labels);
  const DType dtype = log_probabilities.dtype();
  const Planned out = l.make(0, dtype, reduction == 0 ? labels : Dims{});
  OperatorCall call = l.call("nll_loss");
  call.set("self", log_probabilities).set("target", l.input(at(l, 1))).set("out", out);
  if (has(l, 2)) call.set("weight", l.input(at(l, 2)));
  call.set("reduction", reduction);
  // Without the attribute no label is left out.
  call.set("ignore_index", int_attribute(l, "ignore_index", std::numeric_limits<int64_t>::min()));
  call.set("total_weight", l.scratch(dtype, {}));
}

void negative_log_likelihood(Lowering& l) {
  require_floats(l, 0);
  pick(l, l.input(at(l, 0)));
}

void softmax_cross_entropy(Lowering& l) {
  require_floats(l, 0);
  const Planned scores = l.input(at(l, 0));
  require(scores.shape().size() >= 2, "the scores are {}; they need batch and classes", scores.shape());
  const Planned logs =
      wants(l, 1) ? l.make(1, scores.dtype(), scores.shape()) : l.scratch(scores.dtype(), scores.shape());
  if (logs.view.count() > 0) l.call("log_softmax").set("self", scores).set("dim", int64_t{1}).set("out", logs);
  pick(l, logs);
}

NPU_NODE("ai.onnx::NegativeLogLikelihoodLoss", negative_log_likelihood);
NPU_NODE("ai.onnx::SoftmaxCrossEntropyLoss", softmax_cross_entropy);

}  // namespace
}  // namespace npu::graph::onnx
