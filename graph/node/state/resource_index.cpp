// SPDX-License-Identifier: Apache-2.0
// Reading and writing variables at positions that a tensor names.
#include "graph/node/resource.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

void shape(Lowering& l) {
  const Tensor& meta = l.variable(0);
  if (!meta.defined()) fail(Code::kUninitialized, "nothing was assigned to the variable yet; it has no shape");
  l.constant(0, integer_literal(out_type(l), {static_cast<int64_t>(meta.shape.size())}, meta.shape));
}

void gather(Lowering& l) {
  const Planned value = value_of(l, 0);
  const Dims &rows = value.shape(), &index = l.shape(1);
  const auto batch = l.attributes().get_or<int64_t>("batch_dims", 0);
  require(!rows.empty(), "params must be at least 1 dimensional");
  if (batch < 0 || batch > static_cast<int64_t>(index.size())) l.decline("it has negative batch dimensions");
  // With batch dimensions the rows are those of the axis behind them.
  const auto axis = static_cast<size_t>(batch);
  require(axis < rows.size(), "batch_dims ({}) must be less than the rank of params ({})", batch, rows.size());
  Dims out(std::span(rows.data(), axis));
  for (size_t d = axis; d < index.size(); ++d) out.push_back(index[d]);
  for (size_t d = axis + 1; d < rows.size(); ++d) out.push_back(rows[d]);
  l.call("index_select")
      .set("self", value)
      .set("dim", batch)
      .set("index", l.input(1))
      .set("batch_dims", batch)
      .set("out", l.make(0, value.dtype(), out));
}

void gather_nd(Lowering& l) {
  const Planned value = value_of(l, 0);
  const Dims &rows = value.shape(), &index = l.shape(1);
  require(!index.empty() && std::cmp_less_equal(index.back(), rows.size()),
          "indices is {}, the variable {}: the last size of indices is the number of dimensions it names", index, rows);
  Dims out(std::span(index.data(), index.size() - 1));
  for (size_t d = static_cast<size_t>(index.back()); d < rows.size(); ++d) out.push_back(rows[d]);
  l.call("gather_nd").set("self", value).set("indices", l.input(1)).set("out", l.make(0, value.dtype(), out));
}

/// How updates are combined with what is there: a number that scatter_nd_update understands, and their factor.
struct Combination {
  int64_t reduction = 0, alpha = 1;
};

Combination combination(std::string_view name) {
  if (name == "add") return {1, 1};
  if (name == "sub") return {1, -1};
  if (name == "mul") return {2, 1};
  if (name == "max") return {3, 1};
  if (name == "min") return {4, 1};
  return name == "div" ? Combination{6, 1} : Combination{};
}

/// `indices` has one position of the variable for each leading dimension in its last axis.
void scatter(Lowering& l, const Planned& indices, const Planned& updates) {
  const Planned handle = l.input(0);
  const Combination how = combination(l.target());
  if (l.variable(0).dtype == DType::kBool && how.reduction != 0) l.decline("sums of bools are left to the client");
  l.run({handle, indices, updates}, [handle, indices, updates, how](Frame& frame) {
    variable_of(frame, handle).update([&](const Tensor& tensor) {
      ops::Call("scatter_nd_update")
          .set("self", tensor)
          .set("indices", frame.tensor(indices))
          .set("updates", frame.tensor(updates))
          .set("reduction", how.reduction)
          .set("alpha", Scalar(how.alpha))
          .set("out", tensor)
          .run();
    });
  });
}

void scatter_rows(Lowering& l) {
  const Tensor& meta = l.variable(0);
  if (!meta.defined()) fail(Code::kUninitialized, "nothing was assigned to the variable yet; assign it first");
  require(meta.rank() > 0, "the variable is a scalar; it has no rows");
  Planned indices = l.input(1), updates = l.input(2);
  indices.literal = updates.literal = nullptr;
  Dims expected = l.shape(1);
  for (size_t d = 1; d < meta.rank(); ++d) expected.push_back(meta.shape[d]);
  if (updates.shape().empty()) updates = expanded(updates, expected);
  require(updates.shape() == expected, "updates is {}; indices and the variable ask for {}", updates.shape(), expected);
  indices.view.shape.push_back(1), indices.view.strides.push_back(1);
  scatter(l, indices, updates);
}

void scatter_nd(Lowering& l) { scatter(l, l.input(1), l.input(2)); }

NPU_NODE("VariableShape", shape);
NPU_NODE("ResourceGather", gather);
NPU_NODE("ResourceGatherNd", gather_nd);
NPU_NODE("ResourceScatterUpdate", scatter_rows, "put");
NPU_NODE("ResourceScatterAdd", scatter_rows, "add");
NPU_NODE("ResourceScatterSub", scatter_rows, "sub");
NPU_NODE("ResourceScatterMul", scatter_rows, "mul");
NPU_NODE("ResourceScatterDiv", scatter_rows, "div");
NPU_NODE("ResourceScatterMin", scatter_rows, "min");
NPU_NODE("ResourceScatterMax", scatter_rows, "max");
NPU_NODE("ResourceScatterNdUpdate", scatter_nd, "put");
NPU_NODE("ResourceScatterNdAdd", scatter_nd, "add");
NPU_NODE("ResourceScatterNdSub", scatter_nd, "sub");
NPU_NODE("ResourceScatterNdMin", scatter_nd, "min");
NPU_NODE("ResourceScatterNdMax", scatter_nd, "max");

}  // namespace
}  // namespace npu::graph
