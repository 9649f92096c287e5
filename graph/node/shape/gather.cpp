// SPDX-License-Identifier: Apache-2.0
// Reading and writing at positions that a tensor names.
#include "graph/node/array.h"

namespace npu::graph {
namespace {

void gather(Lowering& l, size_t axis, int64_t batch) {
  decline_objects(l);
  const Dims &shape = l.shape(0), &index = l.shape(1);
  if (batch < 0) batch += static_cast<int64_t>(index.size());
  require(batch >= 0 && std::cmp_less_equal(batch, axis) && std::cmp_less_equal(batch, index.size()),
          "batch_dims ({}) must not exceed axis ({}) or the rank of indices ({})", batch, axis, index.size());
  Dims out(std::span(shape.data(), axis));
  for (size_t i = static_cast<size_t>(batch); i < index.size(); ++i) out.push_back(index[i]);
  for (size_t i = axis + 1; i < shape.size(); ++i) out.push_back(shape[i]);
  l.call("index_select")
      .set("self", l.input(0))
      .set("dim", static_cast<int64_t>(axis))
      .set("index", l.input(1))
      .set("batch_dims", batch)
      .set("out", l.make(0, l.dtype(0), out));
}

void gather_v1(Lowering& l) { gather(l, checked_axis(0, l.shape(0).size()), 0); }
void gather_v2(Lowering& l) {
  gather(l, axis_input(l, 2, l.shape(0).size()), l.attributes().get_or<int64_t>("batch_dims", 0));
}

/// What one row of `indices` names in a tensor of `shape`, for all rows.
Dims named(const Dims& shape, const Dims& indices) {
  require(!indices.empty() && std::cmp_less_equal(indices.back(), shape.size()),
          "index innermost dimension length must be <= params rank; saw: {} vs. {}",
          indices.empty() ? 0 : indices.back(), shape.size());
  Dims out(std::span(indices.data(), indices.size() - 1));
  for (size_t i = static_cast<size_t>(indices.back()); i < shape.size(); ++i) out.push_back(shape[i]);
  return out;
}

void gather_nd(Lowering& l) {
  decline_objects(l);
  const Planned out = l.make(0, l.dtype(0), named(l.shape(0), l.shape(1)));
  l.call("gather_nd").set("self", l.input(0)).set("indices", l.input(1)).set("out", out);
}

void scatter(Lowering& l, const Planned& self, size_t indices, const Planned& out, int64_t reduction, int64_t alpha) {
  l.call("scatter_nd_update")
      .set("self", self)
      .set("indices", l.input(indices))
      .set("updates", l.input(indices + 1))
      .set("reduction", reduction)
      .set("alpha", Scalar(alpha))
      .set("out", out);
}

/// Updates of the same place add up.
void scatter_nd(Lowering& l) {
  decline_objects(l);
  if (l.dtype(1) == DType::kBool) l.decline("sums of bools are left to the client");
  const Planned out = l.make(0, l.dtype(1), Dims(l.integers(2)));
  fill(l, out, Scalar(0));
  scatter(l, out, 0, out, 1, 1);
}

void scatter_tensor(Lowering& l, int64_t reduction, int64_t alpha = 1) {
  decline_objects(l);
  if (l.dtype(0) == DType::kBool && reduction != 0) l.decline("sums of bools are left to the client");
  scatter(l, l.input(0), 1, l.make(0, l.dtype(0), l.shape(0)), reduction, alpha);
}
void tensor_update(Lowering& l) { scatter_tensor(l, 0); }
void tensor_add(Lowering& l) { scatter_tensor(l, 1); }
void tensor_sub(Lowering& l) { scatter_tensor(l, 1, -1); }
void tensor_max(Lowering& l) { scatter_tensor(l, 3); }
void tensor_min(Lowering& l) { scatter_tensor(l, 4); }

NPU_NODE("Gather", gather_v1);
NPU_NODE("GatherV2", gather_v2);
NPU_NODE("GatherNd", gather_nd);
NPU_NODE("ScatterNd", scatter_nd);
NPU_NODE("TensorScatterUpdate", tensor_update);
NPU_NODE("TensorScatterAdd", tensor_add);
NPU_NODE("TensorScatterSub", tensor_sub);
NPU_NODE("TensorScatterMax", tensor_max);
NPU_NODE("TensorScatterMin", tensor_min);

}  // namespace
}  // namespace npu::graph
