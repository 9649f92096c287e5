// SPDX-License-Identifier: Apache-2.0
// Normalisations and softmax in the kinds that passes look for, where ranks are known; pools over whole images.
#include <numeric>

#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

PartialShape ranked(std::optional<size_t> rank) {
  return rank ? PartialShape{Dims(std::vector<int64_t>(*rank, kUnknownDim))} : PartialShape::unknown();
}

/// Outputs of the type of input `x`, the further ones of that of `more`.
void opaque(Translation& t, Edge x, DType more) {
  std::vector<ValueType> types{ValueType::tensor(t.dtype(x))};
  while (types.size() < t.node().outputs.size()) types.push_back(ValueType::tensor(more));
  Made made = t.itself(types);
  made.shaped(t.value(x).shape);
  for (size_t i = 0; i < types.size(); ++i) t.give(i, made.output(static_cast<int32_t>(i)));
}

bool wants_more(const Translation& t) {
  for (size_t i = 1; i < t.node().outputs.size(); ++i)
    if (t.wants(i)) return true;
  return false;
}

/// Images of 2 and 3 axes with given statistics.
void batch_norm(Translation& t) {
  const Edge x = t.in(0);
  const auto rank = t.rank(x);
  const bool plain =
      rank && (*rank == 4 || *rank == 5) && !wants_more(t) && t.attribute<int64_t>("training_mode", 0) == 0;
  if (!plain || t.attribute<int64_t>("spatial", 1) == 0) return opaque(t, x, t.dtype(t.in(3)));
  std::vector<ValueType> types(6, ValueType::tensor(t.dtype(t.in(1))));
  types[0] = ValueType::tensor(t.dtype(x));
  Made made = t.make("FusedBatchNormV3", {x, t.in(1), t.in(2), t.in(3), t.in(4)}, types);
  made.with("epsilon", t.attribute<double>("epsilon", 1e-5)).with("is_training", false);
  made.with("data_format", std::string(*rank == 4 ? "NCHW" : "NCDHW"));
  t.give(0, made.shaped(t.value(x).shape));
}

/// mean and 1 / deviation come in the type that the sums are taken in.
void layer_norm(Translation& t) {
  opaque(t, t.in(0), t.dtype(t.in(0)) == DType::kDouble ? DType::kDouble : DType::kFloat);
}

/// Y has the rank of Q; keys, values and scores of all heads have 4 axes. What the heads make of sizes only the run
/// knows.
void attention(Translation& t) {
  const Edge q = t.in(0);
  const DType type = t.dtype(q), values = t.dtype(t.in(2));
  const DType types[] = {type, t.dtype(t.in(1)), values, type};
  std::vector<ValueType> outputs;
  for (size_t i = 0; i < t.node().outputs.size() && i < std::size(types); ++i)
    outputs.push_back(ValueType::tensor(types[i]));
  Made made = t.itself(outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    made.shaped(i == 0 ? ranked(t.rank(q)) : ranked(4), static_cast<int32_t>(i));
    t.give(i, made.output(static_cast<int32_t>(i)));
  }
}

/// Along the last axis, before opset 13 along all from `axis` on.
void softmax(Translation& t, std::string_view op) {
  const Edge x = t.in(0);
  const auto rank = t.rank(x);
  const int64_t axis = t.attribute<int64_t>("axis", t.opset() < 13 ? 1 : -1);
  const bool last = axis == -1 || (rank && axis == static_cast<int64_t>(*rank) - 1);
  if (!last || rank == 0u) return opaque(t, x, t.dtype(x));
  t.give(0, t.make(op, {x}, t.dtype(x)).shaped(t.value(x).shape));
}
void plain_softmax(Translation& t) { softmax(t, "Softmax"); }
void log_softmax(Translation& t) { softmax(t, "LogSoftmax"); }

void global_mean(Translation& t) {
  const Edge x = t.in(0);
  const auto rank = t.rank(x);
  if (!rank || *rank < 3 || !is_floating(t.dtype(x))) return opaque(t, x, t.dtype(x));
  std::vector<int64_t> axes(*rank - 2);
  std::iota(axes.begin(), axes.end(), 2);
  t.give(0, t.make("Mean", {x, t.ints(axes)}, t.dtype(x)).with("keep_dims", true).shaped(ranked(rank)));
}

NPU_ONNX("BatchNormalization", batch_norm);
NPU_ONNX("LayerNormalization", layer_norm);
NPU_ONNX("Attention", attention);
NPU_ONNX("Softmax", plain_softmax);
NPU_ONNX("LogSoftmax", log_softmax);
NPU_ONNX("GlobalAveragePool", global_mean);

}  // namespace
}  // namespace npu::graph::onnx
