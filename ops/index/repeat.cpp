// SPDX-License-Identifier: Apache-2.0
// repeat_interleave with counts on the device, its gradient, and the gradient of unfold: slices gathered or added up
// through a table of positions.
#include <numeric>

#include "ops/index/writing.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

// repeats as numbers of the host, one per slice. Raises when they do not give `total` slices.
std::vector<int64_t> counts_of(const Tensor& repeats, int64_t slices, int64_t total) {
  std::vector<int64_t> counts(static_cast<size_t>(repeats.count()));
  OrderedTensor(repeats, DType::kInt64).load(0, repeats.count(), counts.data());
  // One count stands for every slice.
  if (counts.size() == 1) counts.assign(static_cast<size_t>(slices), counts[0]);
  int64_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    require(counts[i] >= 0, "repeats[{}] is {}; counts are not negative", i, counts[i]);
    sum += counts[i];
  }
  // The client has fixed the output's size; repeats on the device may not agree with it.
  require(sum == total, "repeats add up to {}, the output holds {}", sum, total);
  return counts;
}

void check_repeats(const Tensor& repeats, int64_t slices) {
  require(is_integer(repeats.dtype) && repeats.rank() <= 1, "repeats is {}; it is an integer tensor of one dimension",
          repeats);
  require(repeats.count() == slices || repeats.count() == 1,
          "repeats is {}, there are {} slices; give one count for each, or one for all", repeats, slices);
}

// Slice i of the input stands at table positions sum(counts[:i]) … in the output.
std::vector<int64_t> table_of(const std::vector<int64_t>& counts, int64_t stride) {
  std::vector<int64_t> table;
  for (size_t i = 0; i < counts.size(); ++i) {
    table.insert(table.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i) * stride);
  }
  return table;
}

// dim = kAll flattens self.
struct RepeatInterleave final : Operator {
  static constexpr int64_t kAll = INT64_MIN;
  Tensor self, repeats, out;
  int64_t dim = kAll;
  int64_t stride = 1, total = 0, slices = 0;
  Tensor flat;
  IndexedMove move;

  void prepare() override {
    // Elements that do not lie flat are copied with each run; without memory of its own `flat` marks that.
    flat = dim == kAll && !self.contiguous() ? make_tensor(nullptr, self.dtype, {self.count()}) : self;
    if (dim == kAll && self.contiguous()) flat = self.view({self.count()}, {1});
    const size_t axis = dim == kAll ? 0 : wrap_dim(dim, self.rank());
    require(flat.rank() > 0, "self is {}; repeating along a dimension needs one", self);
    slices = flat.shape[axis];
    check_repeats(repeats, slices);
    require(out.rank() == flat.rank(), "out is {}, expected {} dimensions", out, flat.rank());
    // The output's size is what the client says it is; whether the counts agree is seen when the work runs.
    total = out.shape[axis];
    stride = flat.strides[axis];
    const Tensor view = replace_axis(flat, axis, {total});
    check_shape(out, "out", view.shape);
    move.plan(IndexedMode::kGather, out, view, {total}, axis);
  }
  void run() override {
    const std::vector<int64_t> table = table_of(counts_of(repeats, slices, total), stride);
    if (flat.data != nullptr || self.count() == 0) return move.run(table, flat.bytes());
    std::vector<std::byte> memory(static_cast<size_t>(bytes_of(self)));
    Reshape copy;
    copy.plan(self, make_tensor(memory.data(), self.dtype, {self.count()}));
    copy.run();
    move.run(table, memory.data());
  }
  int64_t cost() const override { return move.cost() + 10 * slices; }
};

// out = 0 repeats[0] times, 1 repeats[1] times, …
struct RepeatPositions final : Operator {
  Tensor repeats, out;
  void prepare() override {
    check_repeats(repeats, repeats.count());
    require(out.rank() == 1 && is_integer(out.dtype), "out is {}; positions are an integer tensor of one dimension",
            out);
  }
  void run() override {
    const std::vector<int64_t> table = table_of(counts_of(repeats, repeats.count(), out.count()), 1);
    OrderedTensor(out, DType::kInt64).store(0, out.count(), table.data());
  }
};

struct RepeatInterleaveBackward final : Writing {
  Tensor grad, repeats;
  int64_t dim = 0;
  int64_t stride = 0;
  size_t axis = 0;

  void prepare() override {
    axis = wrap_dim(dim, out.rank());
    require(out.rank() > 0 && grad.rank() == out.rank(), "grad is {}, out is {}; both have equally many dimensions",
            grad, out);
    // Slices that come from one are added up in order, halves in float32.
    const Tensor& target = begin_with(Scalar(0), sum_buffer(out.dtype));
    check_repeats(repeats, out.shape[axis]);
    const Tensor view = replace_axis(target, axis, {grad.shape[axis]});
    check_shape(grad, "grad", view.shape);
    stride = target.strides[axis];
    move.plan(IndexedMode::kAdd, grad, view, {grad.shape[axis]}, axis);
  }

 private:
  std::vector<int64_t> positions() const override {
    return table_of(counts_of(repeats, out.shape[axis], grad.shape[axis]), stride);
  }
};

// grad: self.unfold(dim, size, step), windows along dim and their elements last. A 0-dim self is a line of one element
// and has one window, which grad does not number.
struct UnfoldBackward final : Writing {
  Tensor grad;
  std::vector<int64_t> input_sizes, table;
  int64_t dim = 0, size = 1, step = 1;

  void prepare() override {
    check_shape(out, "out", Dims(input_sizes));
    const size_t axis = wrap_dim(dim, out.rank());
    const bool scalar = out.rank() == 0;
    const int64_t length = scalar ? 1 : out.shape[axis];
    require(size >= 0 && step >= 1 && size <= length,
            "size is {}, step is {}: dimension {} of out ({}) has {} elements", size, step, axis, out, length);
    const Tensor& whole = begin_with(Scalar(0), sum_buffer(out.dtype));
    const Tensor target = scalar ? whole.view({1}, {1}) : whole;
    const int64_t windows = (length - size) / step + 1;
    // The elements of a window next to their windows, so that both share one table.
    Tensor plain = grad;
    require(grad.rank() == out.rank() + 1, "grad is {}, out is {}; grad has one dimension more", grad, out);
    if (scalar) plain = grad.view({1, grad.shape[0]}, {0, grad.strides[0]});
    // The axes are only renamed: no element moves.
    const int64_t last = plain.shape.back(), last_stride = plain.strides.back();
    plain.shape.pop_back();
    plain.strides.pop_back();
    plain.shape.insert(axis + 1, last);
    plain.strides.insert(axis + 1, last_stride);
    const Tensor view = replace_axis(target, axis, {windows, size});
    // No window elements, no gradient: strides do not matter.
    if (scalar && size == 0) plain = plain.view(view.shape, Dims(2, 0));
    require(plain.shape == view.shape, "grad is {}; windows of {} every {} in {} do not give that", grad, size, step,
            out);
    table.clear();
    for (int64_t w = 0; w < windows; ++w) {
      // Windows may overlap: elements that several of them hold get their sum, in the order of the windows.
      for (int64_t i = 0; i < size; ++i) table.push_back((w * step + i) * target.strides[axis]);
    }
    move.plan(IndexedMode::kAdd, plain, view, {windows, size}, axis);
  }

 private:
  std::vector<int64_t> positions() const override { return table; }
};

NPU_OPERATOR(RepeatInterleave, "repeat_interleave", "index", in<&RepeatInterleave::self>("self"),
             in<&RepeatInterleave::repeats>("repeats"), attr<&RepeatInterleave::dim>("dim"),
             out<&RepeatInterleave::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(RepeatPositions, "repeat_positions", "index", in<&RepeatPositions::repeats>("repeats"),
             out<&RepeatPositions::out>("out"));
NPU_OPERATOR(RepeatInterleaveBackward, "repeat_interleave_backward", "index",
             in<&RepeatInterleaveBackward::grad>("grad"), in<&RepeatInterleaveBackward::repeats>("repeats"),
             attr<&RepeatInterleaveBackward::dim>("dim"), out<&RepeatInterleaveBackward::out>("out"));
NPU_OPERATOR(UnfoldBackward, "unfold_backward", "index", in<&UnfoldBackward::grad>("grad"),
             attr<&UnfoldBackward::input_sizes>("input_sizes"), attr<&UnfoldBackward::dim>("dim"),
             attr<&UnfoldBackward::size>("size"), attr<&UnfoldBackward::step>("step"),
             out<&UnfoldBackward::out>("out"));

}  // namespace
}  // namespace npu::ops
