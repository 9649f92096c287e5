// SPDX-License-Identifier: Apache-2.0
// Cross entropies of softmax, which bring the loss and its gradient together, and the half sum of squares.
#include "graph/node/layout.h"

namespace npu::graph {
namespace {

/// The dtype sums and logarithms are kept in.
DType wide(DType dtype) { return dtype == DType::kDouble ? DType::kDouble : DType::kFloat; }

/// Inputs features [batch, classes] and one label per row. Outputs the losses and their gradients.
void sparse_cross_entropy(Lowering& l) {
  const Dims& shape = l.shape(0);
  require(shape.size() == 2, "logits must be 2-dimensional, but got shape {}", shape);
  require(l.shape(1) == Dims{shape[0]},
          "logits and labels must have the same first dimension, got logits shape {} and "
          "labels shape {}",
          shape, l.shape(1));
  require(shape[1] > 0, "Must have at least one class, but got logits shape {}", shape);
  const Planned loss = l.make(0, l.dtype(0), {shape[0]}), gradient = l.make(1, l.dtype(0), shape);
  const Planned logs = l.scratch(wide(l.dtype(0)), shape);
  l.call("log_softmax").set("self", l.input(0)).set("dim", int64_t{1}).set("out", logs);
  l.call("exp").set("self", logs).set("out", gradient);
  l.call("class_cross_entropy")
      .set("self", logs)
      .set("target", l.input(1))
      .set("out", loss)
      .set("grad_input", gradient);
}

/// Inputs features and labels, both [batch, classes] after broadcasting.
void cross_entropy(Lowering& l) {
  const Dims shape = broadcast(l.shape(0), l.shape(1));
  require(shape.size() == 2, "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  const DType slot = wide(l.dtype(0));
  const Planned labels = expanded(l.input(1), shape), logs = l.scratch(slot, shape), terms = l.scratch(slot, shape);
  const Planned loss = l.make(0, l.dtype(0), {shape[0]}), gradient = l.make(1, l.dtype(0), shape);
  l.call("log_softmax").set("self", expanded(l.input(0), shape)).set("dim", int64_t{1}).set("out", logs);
  l.call("mul").set("self", labels).set("other", logs).set("out", terms);
  l.call("sum").set("self", terms).set("dim", std::vector<int64_t>{1}).set("out", loss);
  l.call("neg").set("self", loss).set("out", loss);
  l.call("exp").set("self", logs).set("out", logs);
  l.call("sub").set("self", logs).set("other", labels).set("out", gradient);
}

void l2_loss(Lowering& l) {
  const DType slot = wide(l.dtype(0));
  const Planned squares = l.scratch(slot, l.shape(0)), total = l.scratch(slot, {}), out = l.make(0, l.dtype(0), {});
  l.call("square").set("self", l.input(0)).set("out", squares);
  l.call("sum").set("self", squares).set("out", total);
  l.call("mul").set("self", total).set("other", number(Scalar(0.5))).set("out", out);
}

NPU_NODE("SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy);
NPU_NODE("SoftmaxCrossEntropyWithLogits", cross_entropy);
NPU_NODE("L2Loss", l2_loss);

}  // namespace
}  // namespace npu::graph
