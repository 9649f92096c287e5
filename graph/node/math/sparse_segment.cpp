// SPDX-License-Identifier: Apache-2.0
// Rows picked by index and reduced by segment, as embeddings of bags are, and the gradients of it.
#include <cmath>

#include "graph/node/array.h"
#include "graph/run/frame.h"
#include "graph/value/value.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

enum class Weight { kSum, kMean, kRoot };  ///< a row counts once, by 1 / count or by 1 / sqrt(count) of its segment

/// The ids, which must not descend, in the type the kernels count in.
Value sorted_ids(const Frame& frame, const Tensor& ids) {
  Value out = make_value(frame.device(), DType::kInt64, ids.shape);
  ops::Call("copy").set("self", ops::Operand{ids, {}}).set("out", out.tensor).run();
  const auto* id = out.tensor.as<int64_t>();
  for (int64_t i = 0; i < ids.count(); ++i) {
    require(id[i] >= 0, "segment ids must be >= 0");
    require(i == 0 || id[i - 1] <= id[i], "segment ids are not increasing");
  }
  return out;
}

Value picked(const Frame& frame, const Tensor& rows, const Tensor& index) {
  Dims shape = rows.shape;
  shape[0] = index.count();
  Value out = make_value(frame.device(), rows.dtype, shape);
  ops::Call("index_select").set("self", rows).set("index", index).set("out", out.tensor).run();
  return out;
}

/// Multiplies row i by what it weighs: a row of `segments` of its own, or one of the members of `ids`.
void weigh(const Tensor& rows, const Tensor& ids, int64_t segments, Weight weight, bool members) {
  if (weight == Weight::kSum || rows.count() == 0) return;
  std::vector<double> counts(static_cast<size_t>(segments)), factors;
  const auto* id = ids.as<int64_t>();
  for (int64_t i = 0; i < ids.count(); ++i) ++counts[static_cast<size_t>(id[i])];
  for (int64_t i = 0; i < rows.shape[0]; ++i) {
    const double count = std::max(1.0, counts[static_cast<size_t>(members ? id[i] : i)]);
    factors.push_back(1 / (weight == Weight::kMean ? count : std::sqrt(count)));
  }
  Tensor factor = make_tensor(factors.data(), DType::kDouble, {rows.shape[0]});
  factor = factor.view(Dims(rows.rank(), 1), Dims(rows.rank(), 0));
  factor.shape[0] = rows.shape[0], factor.strides[0] = 1;
  ops::Call("mul").set("self", ops::Operand{rows, {}}).set("other", ops::Operand{factor, {}}).set("out", rows).run();
}

void check_vectors(const Lowering& l) {
  if (!is_floating(l.dtype(0))) l.decline("segments of this type are left to the client");
  require(!l.shape(0).empty() && l.shape(1).size() == 1 && l.shape(1) == l.shape(2),
          "indices and segment_ids should be vectors of the same size; they are {} and {}", l.shape(1), l.shape(2));
}

void reduce(Lowering& l, Weight weight) {
  check_vectors(l);
  const Planned data = l.input(0), index = l.input(1), ids = l.input(2);
  const int64_t given = l.input_count() == 4 ? integer(l, 3) : -1;
  const Planned out = l.dynamic(0, data.dtype());
  l.run({data, index, ids, out}, [=](Frame& frame) {
    const Value numbers = sorted_ids(frame, frame.tensor(ids));
    const int64_t n = numbers.tensor.count();
    const Value rows = picked(frame, frame.tensor(data), frame.tensor(index));
    Dims shape = rows.tensor.shape;
    shape[0] = given >= 0 ? given : (n == 0 ? 0 : numbers.tensor.as<int64_t>()[n - 1] + 1);
    Value result = make_value(frame.device(), data.dtype(), shape);
    ops::Call("segment").set("self", rows.tensor).set("index", numbers.tensor).set("out", result.tensor).run();
    weigh(result.tensor, numbers.tensor, shape[0], weight, false);
    frame.set(out, std::move(result));
  });
}
void sum(Lowering& l) { reduce(l, Weight::kSum); }
void mean(Lowering& l) { reduce(l, Weight::kMean); }
void root(Lowering& l) { reduce(l, Weight::kRoot); }

/// Each row of the gradient goes to all rows that its segment picked.
void spread(Lowering& l, Weight weight) {
  check_vectors(l);
  const Planned gradient = l.input(0), index = l.input(1), ids = l.input(2);
  Dims shape = l.shape(0);
  shape[0] = integer(l, 3);
  const Planned out = l.late(0, gradient.dtype(), shape);
  l.run({gradient, index, ids, out}, [=](Frame& frame) {
    const Value numbers = sorted_ids(frame, frame.tensor(ids));
    const Value rows = picked(frame, frame.tensor(gradient), numbers.tensor);
    weigh(rows.tensor, numbers.tensor, gradient.shape()[0], weight, true);
    Value result = make_value(frame.device(), gradient.dtype(), shape);
    ops::Call("copy").set("self", ops::Operand{{}, Scalar(0)}).set("out", result.tensor).run();
    ops::Call("index_add")
        .set("self", result.tensor)
        .set("index", frame.tensor(index))
        .set("source", rows.tensor)
        .set("alpha", Scalar(1))
        .set("out", result.tensor)
        .run();
    frame.set(out, std::move(result));
  });
}
void sum_grad(Lowering& l) { spread(l, Weight::kSum); }
void mean_grad(Lowering& l) { spread(l, Weight::kMean); }
void root_grad(Lowering& l) { spread(l, Weight::kRoot); }

NPU_NODE("SparseSegmentSum", sum);
NPU_NODE("SparseSegmentMean", mean);
NPU_NODE("SparseSegmentSqrtN", root);
NPU_NODE("SparseSegmentSumWithNumSegments", sum);
NPU_NODE("SparseSegmentMeanWithNumSegments", mean);
NPU_NODE("SparseSegmentSqrtNWithNumSegments", root);
NPU_NODE("SparseSegmentSumGrad", sum_grad);
NPU_NODE("SparseSegmentMeanGrad", mean_grad);
NPU_NODE("SparseSegmentSqrtNGrad", root_grad);

}  // namespace
}  // namespace npu::graph
