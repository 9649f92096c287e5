// SPDX-License-Identifier: Apache-2.0
// Slices reduced by the segment they belong to; counts of numbers.
#include <algorithm>
#include <limits>

#include "graph/node/array.h"
#include "graph/run/frame.h"
#include "graph/value/value.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

enum Reduction : int64_t { kSum = 1, kProduct = 2, kMaximum = 3, kMinimum = 4, kMean = 5 };

Scalar limit_of(DType dtype, bool lowest) {
  Scalar limit(0);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      limit = Scalar(static_cast<int64_t>(lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max()));
    else if constexpr (std::is_floating_point_v<T>)
      limit = Scalar(static_cast<double>(lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max()));
  });
  // The largest finite halves.
  const double sign = lowest ? -1 : 1;
  if (dtype == DType::kHalf) return Scalar(sign * 65504.0);
  return dtype == DType::kBFloat16 ? Scalar(sign * 0x1.fep127) : limit;
}

void unsorted(Lowering& l, Reduction reduction, const Scalar& empty) {
  decline_unordered(l);
  const Dims &shape = l.shape(0), &ids = l.shape(1);
  require(ids.size() <= shape.size() && std::equal(ids.begin(), ids.end(), shape.begin()),
          "data.shape = {} does not start with segment_ids.shape = {}", shape, ids);
  const int64_t count = integer(l, 2);
  require(count >= 0, "Input num_segments == {} must not be negative.", count);
  Dims out{count};
  for (size_t i = ids.size(); i < shape.size(); ++i) out.push_back(shape[i]);
  l.call("segment")
      .set("self", l.input(0))
      .set("index", l.input(1))
      .set("reduction", static_cast<int64_t>(reduction))
      .set("empty", empty)
      .set("out", l.make(0, l.dtype(0), out));
}
void unsorted_sum(Lowering& l) { unsorted(l, kSum, Scalar(0)); }
void unsorted_prod(Lowering& l) { unsorted(l, kProduct, Scalar(1)); }
void unsorted_max(Lowering& l) { unsorted(l, kMaximum, limit_of(l.dtype(0), true)); }
void unsorted_min(Lowering& l) { unsorted(l, kMinimum, limit_of(l.dtype(0), false)); }

/// Segments in ascending order; the last id tells how many there are.
void sorted(Lowering& l, Reduction reduction, const Scalar& empty) {
  decline_unordered(l);
  const Planned data = l.input(0), ids = l.input(1);
  require(ids.shape().size() == 1 && !data.shape().empty() && ids.shape()[0] == data.shape()[0],
          "segment_ids should be a vector of the size of dimension 0 of the input; they are {} and {}", ids.shape(),
          data.shape());
  const Planned out = l.dynamic(0, data.dtype());
  l.run({data, ids, out}, [=](Frame& frame) {
    const Tensor from = frame.tensor(data);
    const int64_t n = from.shape[0];
    const Value numbers = make_value(frame.device(), DType::kInt64, {n});
    ops::Call("copy").set("self", ops::Operand{frame.tensor(ids), {}}).set("out", numbers.tensor).run();
    const auto* id = numbers.tensor.as<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      require(id[i] >= 0, "segment ids must be >= 0");
      require(i == 0 || id[i - 1] <= id[i], "segment ids are not increasing");
    }
    Dims shape = from.shape;
    shape[0] = n == 0 ? 0 : id[n - 1] + 1;
    Value result = make_value(frame.device(), from.dtype, shape);
    ops::Call("segment")
        .set("self", from)
        .set("index", numbers.tensor)
        .set("reduction", static_cast<int64_t>(reduction))
        .set("empty", empty)
        .set("out", result.tensor)
        .run();
    frame.set(out, std::move(result));
  });
}
void segment_sum(Lowering& l) { sorted(l, kSum, Scalar(0)); }
void segment_prod(Lowering& l) { sorted(l, kProduct, Scalar(1)); }
void segment_max(Lowering& l) { sorted(l, kMaximum, Scalar(0)); }
void segment_min(Lowering& l) { sorted(l, kMinimum, Scalar(0)); }
void segment_mean(Lowering& l) { sorted(l, kMean, Scalar(0)); }

/// How often each number below `size` stands in the input, or the sum of its weights; larger numbers do not count.
void count(Lowering& l, const Planned& numbers, const Planned& weights, bool once) {
  require(l.shape(1).empty(), "size is given as {}; it is a number", l.shape(1));
  const int64_t size = integer(l, 1);
  require(size >= 0, "size ({}) must be non-negative", size);
  require(weights.view.count() == 0 || weights.shape() == numbers.shape(), "weights are {}, the numbers {}",
          weights.shape(), numbers.shape());
  const bool weighted = weights.view.count() > 0 && !once;
  Dims shape = numbers.shape();
  const bool rows = shape.size() == 2;
  shape.back() = size;
  const Planned out = l.make(0, weights.dtype(), shape);
  l.call("check_integers")
      .set("self", numbers)
      .set("refuse_negative", true)
      .set("message", std::string("Input arr must be non-negative!"));
  Planned values = weights;
  if (!weighted) {
    values = l.scratch(weights.dtype(), {});
    fill(l, values, Scalar(1));
    values = expanded(values, numbers.shape());
  }
  for (int64_t row = 0; row < (rows ? shape[0] : 1); ++row) {
    l.call("segment")
        .set("self", rows ? without_axis(values, 0, row) : values)
        .set("index", rows ? without_axis(numbers, 0, row) : numbers)
        .set("reduction", static_cast<int64_t>(once ? kMaximum : kSum))
        .set("drop_beyond", true)
        .set("out", rows ? without_axis(out, 0, row) : out);
  }
}
/// Its elements in a row.
Planned flat(Lowering& l, const Planned& in) {
  const Dims shape{in.view.count()};
  if (contiguous(in)) return reshaped(in, shape);
  const Planned out = l.scratch(in.dtype(), shape);
  l.call("copy").set("self", in).set("out", reshaped(out, in.shape()));
  return out;
}

void bincount(Lowering& l) { count(l, flat(l, l.input(0)), flat(l, l.input(2)), false); }

/// Each row is counted for itself.
void dense_bincount(Lowering& l) {
  const Dims& shape = l.shape(0);
  require(shape.size() <= 2, "the numbers are {}; they have at most two dimensions", shape);
  if (shape.empty()) l.decline("a count of one number is left to the client");
  count(l, l.input(0), l.input(2), l.attributes().get_or<bool>("binary_output", false));
}

NPU_NODE("UnsortedSegmentSum", unsorted_sum);
NPU_NODE("UnsortedSegmentProd", unsorted_prod);
NPU_NODE("UnsortedSegmentMax", unsorted_max);
NPU_NODE("UnsortedSegmentMin", unsorted_min);
NPU_NODE("SegmentSum", segment_sum);
NPU_NODE("SegmentProd", segment_prod);
NPU_NODE("SegmentMax", segment_max);
NPU_NODE("SegmentMin", segment_min);
NPU_NODE("SegmentMean", segment_mean);
NPU_NODE("Bincount", bincount);
NPU_NODE("DenseBincount", dense_bincount);

}  // namespace
}  // namespace npu::graph
