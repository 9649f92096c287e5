// SPDX-License-Identifier: Apache-2.0
// Cross entropies of softmax, which bring the loss and its gradient together, and the half sum of squares.
#include "graph/node/layout.h"

namespace npu::graph {
namespace {

/// The dtype sums and logarithms are kept in.
DType wide(DType dtype) { return dtype == DType::kDouble ? DType::kDouble : DType::kFloat; }

/// Outputs the losses and their gradients, for logits and labels of one kind or the other.
void outputs(Lowering& l, const Planned& logits, std::string_view kind, const Planned& labels) {
  const Dims& shape = logits.view.shape;
  const Planned loss = l.make(0, l.dtype(0), {shape[0]}), gradient = l.make(1, l.dtype(0), shape);
  l.call("softmax_cross_entropy").set("self", logits).set(kind, labels).set("out", loss).set("grad_input", gradient);
}

/// Inputs features [batch, classes] and one label per row.
void sparse_cross_entropy(Lowering& l) {
  const Dims& shape = l.shape(0);
  require(shape.size() == 2, "logits must be 2-dimensional, but got shape {}", shape);
  require(l.shape(1) == Dims{shape[0]},
          "logits and labels must have the same first dimension, got logits shape {} and "
          "labels shape {}",
          shape, l.shape(1));
  require(shape[1] > 0, "Must have at least one class, but got logits shape {}", shape);
  outputs(l, l.input(0), "target", l.input(1));
}

/// Inputs features and labels, both [batch, classes] after broadcasting.
void cross_entropy(Lowering& l) {
  const Dims shape = broadcast(l.shape(0), l.shape(1));
  require(shape.size() == 2, "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  outputs(l, expanded(l.input(0), shape), "labels", expanded(l.input(1), shape));
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
