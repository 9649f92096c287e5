// SPDX-License-Identifier: Apache-2.0
// slice_at, slice_put: a block of fixed size read from, or written to, where a tensor of positions says when the work
// runs.
#include "ops/operator.h"
#include "ops/vector/elementwise/move.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

// begin[i] is the first position along axes[i] (-1: it says nothing); axes nobody names begin at 0. Positions below 0
// count from the end when `wrap`.
struct Block : Operator {
  Tensor begin;
  std::vector<int64_t> axes;
  bool wrap = false;

 protected:
  void check(const Tensor& whole, const Tensor& block) const {
    require(block.rank() == whole.rank() && block.dtype == whole.dtype, "the block is {}, in {}; rank and dtype differ",
            block, whole);
    require(begin.rank() <= 1 && is_integer(begin.dtype) && begin.count() == static_cast<int64_t>(axes.size()),
            "begin is {}; it holds {} integers", begin, axes.size());
    for (size_t i = 0; i < whole.rank(); ++i)
      require(block.shape[i] <= whole.shape[i], "the block is {}, larger than {} in dimension {}", block, whole, i);
    for (const int64_t axis : axes)
      require(axis < static_cast<int64_t>(whole.rank()), "axes name dimension {}, the tensor is {}", axis, whole);
  }
  Tensor place(const Tensor& whole, const Tensor& block) const {
    Tensor view = whole;
    view.shape = block.shape;
    std::vector<int64_t> at(axes.size());
    OrderedTensor(begin, DType::kInt64).load(0, begin.count(), at.data());
    for (size_t i = 0; i < at.size(); ++i) {
      if (axes[i] < 0) continue;
      const auto axis = static_cast<size_t>(axes[i]);
      const int64_t size = whole.shape[axis], position = wrap && at[i] < 0 ? at[i] + size : at[i];
      // Refused, not clamped as ends of a slice are: so many elements must come.
      require(position >= 0 && position <= size - block.shape[axis],
              "slice index {} of dimension {} out of bounds: {} elements of {} are taken", at[i], axis,
              block.shape[axis], size);
      view.offset += position * whole.strides[axis];
    }
    return view;
  }
};

struct SliceAt final : Block {
  Tensor self, out;
  void prepare() override { check(self, out); }
  void run() override {
    // Planned when the work runs, not before: the place is part of the plan.
    Move move;
    move.plan(place(self, out), out);
    move.run();
  }
  int64_t cost() const override { return 500 + out.count(); }
};

// The rest of out stays.
struct SlicePut final : Block {
  Tensor source, out;
  void prepare() override { check(out, source); }
  void run() override {
    Move move;
    move.plan(source, place(out, source));
    move.run();
  }
  int64_t cost() const override { return 500 + source.count(); }
};

#define NPU_BLOCK_FIELDS(type) in<&type::begin>("begin"), attr<&type::axes>("axes"), attr<&type::wrap>("wrap")
NPU_OPERATOR(SliceAt, "slice_at", "shape", in<&SliceAt::self>("self"), NPU_BLOCK_FIELDS(SliceAt),
             out<&SliceAt::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(SlicePut, "slice_put", "shape", in<&SlicePut::source>("source"), NPU_BLOCK_FIELDS(SlicePut),
             inout<&SlicePut::out>("out"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
