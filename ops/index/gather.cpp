// SPDX-License-Identifier: Apache-2.0
// Reading through index tensors: index_select (also embedding and TensorFlow-style gather), gather, gather_nd, index,
// take.
// All but take are one loop of the indexed engine: what differs is the view that they make of self.
#include <algorithm>

#include "device/queue/stream.h"
#include "ops/index/index_list.h"
#include "ops/index/indexed.h"
#include "ops/index/nd_index.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// Frame of operators that read self through offsets.
struct Reading : Operator {
  Tensor self, out;
  IndexOffsets offsets;
  IndexedMove move;

  void run() override { move.run(offsets.read()); }
  // A bad index is found only now. On an idle stream the kernel runs in the launching thread, where it can still be
  // told with the client's line.
  int64_t cost() const override { return std::min(move.cost() + 4 * count_of(offsets.shape()), device::kInlineBound); }
};

// out = self with axis dim replaced by the index's axes. With batch_dims = b the first b axes of self and index belong
// together and each such entry of self is read with its own index. A 0-dim self is a line of one element, and a 0-dim
// index may stand for one position of an axis that out keeps: clients of torch send both.
struct IndexSelect final : Reading {
  Tensor index;
  int64_t dim = 0;
  int64_t batch_dims = 0;

  void prepare() override {
    const Tensor line = self.rank() == 0 ? as_line(self) : self;
    const bool keeps = index.rank() == 0 && out.rank() == line.rank();
    const Tensor at = keeps ? as_line(index) : index;
    const Tensor to = out.rank() == 0 && at.count() == 1 && at.rank() == 1 ? as_line(out) : out;
    plan(line, at, to);
  }

 private:
  static Tensor as_line(const Tensor& t) { return t.view({1}, {1}); }
  void plan(const Tensor& from, const Tensor& at, const Tensor& to) {
    const size_t axis = wrap_dim(dim, from.rank());
    const size_t batch = batch_axes(from, at, axis);
    Dims inner;
    for (size_t i = batch; i < at.rank(); ++i) inner.push_back(at.shape[i]);
    // An axis that the index decides has stride 0 in this view, as its offsets say where to read.
    // Batch axes stay axes of self; the offsets begin with them, broadcast over what lies between them and dim.
    Tensor view = replace_axis(from, axis, inner);
    check_shape(to, "out", view.shape);
    Tensor wide = at;
    for (size_t i = batch; i < axis; ++i) {
      wide.shape.insert(i, from.shape[i]);
      wide.strides.insert(i, 0);
    }
    const size_t first = batch == 0 ? axis : 0;
    if (batch == 0) wide = at;
    offsets.plan(wide.shape, {{wide, from.shape[axis], from.strides[axis], false, "index"}});
    move.plan(IndexedMode::kGather, to, view, wide.shape, first);
  }
  size_t batch_axes(const Tensor& from, const Tensor& at, size_t axis) const {
    const auto rank = static_cast<int64_t>(at.rank());
    const int64_t batch = batch_dims < 0 ? batch_dims + rank : batch_dims;
    require(batch >= 0 && batch <= rank && batch <= static_cast<int64_t>(axis),
            "batch_dims is {}; it may not exceed dim ({}) or the index's rank ({})", batch_dims, axis, rank);
    for (size_t i = 0; i < static_cast<size_t>(batch); ++i) {
      require(from.shape[i] == at.shape[i], "self is {}, index is {}: batch dimension {} differs", from, at, i);
    }
    return static_cast<size_t>(batch);
  }
};

// out[i][j] = self[index[i][j]][j] along dim.
struct Gather final : Reading {
  Tensor index;
  int64_t dim = 0;

  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    check_shape(out, "out", index.shape);
    // A scalar counts as a line of one element, on either side.
    require(std::max<size_t>(self.rank(), 1) == std::max<size_t>(index.rank(), 1) || index.count() == 0,
            "self is {}, index is {}; both have the same number of dimensions", self, index);
    Tensor view = self.view(index.shape, Dims(index.rank(), 0));
    // The index may be shorter than self along the other axes: it reads their beginnings.
    for (size_t i = 0; i < std::min(self.rank(), index.rank()); ++i) {
      if (i == axis) continue;
      require(index.shape[i] <= self.shape[i] || index.count() == 0,
              "index is {}, self is {}: index is larger in dimension {}, which is not dim", index, self, i);
      view.strides[i] = self.strides[i];
    }
    // A scalar is a line of one element: only index 0 fits, whatever the stride.
    const bool scalar = self.rank() == 0;
    offsets.plan(index.shape,
                 {{index, scalar ? 1 : self.shape[axis], scalar ? 0 : self.strides[axis], false, "index"}});
    move.plan(IndexedMode::kGather, out, view, index.shape, 0);
  }
};

// out = self[indices[0], indices[1], …], NumPy's advanced indexing.
struct Index final : Reading {
  std::vector<Tensor> indices;

  void prepare() override {
    const IndexList list(self, indices, [&](const Dims& shape) { return shape == out.shape; });
    check_shape(out, "out", list.view().shape);
    offsets.plan(list.index_shape(), list.axes());
    move.plan(IndexedMode::kGather, out, list.view(), list.index_shape(), list.first_axis());
  }
};

// out[i] = self[indices[i, 0], indices[i, 1], …].
struct GatherNd final : Reading {
  Tensor indices;
  bool negative = false;  ///< whether positions below 0 count from the end

  void prepare() override {
    NdIndex index = nd_index(self, indices, negative);
    check_shape(out, "out", index.view.shape);
    offsets.plan(index.shape, std::move(index.axes));
    move.plan(IndexedMode::kGather, out, index.view, index.shape, 0);
  }
};

// out[i] = self.flatten()[index[i]], row-major whatever the strides.
struct Take final : Operator {
  Tensor self, index, out;
  IndexOffsets offsets;

  void prepare() override {
    check_shape(out, "out", index.shape);
    require(self.dtype == out.dtype, "self is {}, out is {}; both have the same dtype", self, out);
    require(self.count() > 0 || index.count() == 0, "self is {}; nothing can be taken from it", self);
    // Positions count elements in row-major order; the walk below turns them into offsets.
    offsets.plan(index.shape, {{index, self.count(), 1, true, "index"}});
  }
  void run() override {
    const std::vector<int64_t> at = offsets.read();
    const Loop from = make_ordered_loop(self.shape, {&self.strides, 1});
    const Loop to = make_ordered_loop(out.shape, {&out.strides, 1});
    const Convert copy = converter(self.dtype, self.dtype);
    const auto size = static_cast<int64_t>(size_of(self.dtype));
    parallel_for(out.count(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const LoopCursor source(from, at[static_cast<size_t>(i)]);
        const LoopCursor target(to, i);
        copy(self.bytes() + source.offset(0) * size, 1, out.bytes() + target.offset(0) * size, 1, 1);
      }
    });
  }
  int64_t cost() const override { return 200 + 30 * out.count(); }
};

NPU_OPERATOR(IndexSelect, "index_select", "index", in<&IndexSelect::self>("self"), attr<&IndexSelect::dim>("dim"),
             in<&IndexSelect::index>("index"), attr<&IndexSelect::batch_dims>("batch_dims"),
             out<&IndexSelect::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Gather, "gather", "index", in<&Gather::self>("self"), attr<&Gather::dim>("dim"),
             in<&Gather::index>("index"), out<&Gather::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Index, "index", "index", in<&Index::self>("self"), in<&Index::indices>("indices"), out<&Index::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(GatherNd, "gather_nd", "index", in<&GatherNd::self>("self"), in<&GatherNd::indices>("indices"),
             attr<&GatherNd::negative>("negative"), out<&GatherNd::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Take, "take", "index", in<&Take::self>("self"), in<&Take::index>("index"), out<&Take::out>("out"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
