// SPDX-License-Identifier: Apache-2.0
// index_add, index_copy, index_fill: whole slices of out at the positions index names along dim. index_put:
// out[indices] gets values. put: as index_put on the flattened tensor. scatter_nd_update and scatter_update: slices
// named by rows of indices, or beginning at one position per batch entry. Sums run in row-major order, in float32 for
// halves.
#include "ops/index/index_list.h"
#include "ops/index/nd_index.h"
#include "ops/index/writing.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// Offsets over axis `axis` of target by a 0- or 1-dim index; returns target as the loop sees it.
struct SliceWriting : Writing {
  Tensor index;
  int64_t dim = 0;

 protected:
  void plan_slices(IndexedMode mode, const Tensor& target, const Operand& source) {
    const size_t axis = wrap_dim(dim, self.rank());
    require(index.rank() <= 1, "index is {}; it has one dimension", index);
    const Dims places{index.count()};
    Tensor view = target;
    // A scalar has one place: every index that fits is 0 and names it.
    if (self.rank() == 0) {
      view = view.view(places, Dims{0});
    } else {
      view.shape[axis] = index.count();
      view.strides[axis] = 0;
    }
    const int64_t stride = self.rank() == 0 ? 0 : target.strides[axis];
    const Tensor plain = source.is_scalar() ? constant(source.scalar, view.shape) : slices(source.tensor, view.shape);
    offsets.plan(places, {{index.view(places, index.rank() == 0 ? Dims{0} : index.strides),
                           self.rank() == 0 ? 1 : self.shape[axis], stride, false, "index"}});
    move.plan(mode, plain, view, places, axis);
  }

 private:
  Tensor slices(const Tensor& source, const Dims& expected) const {
    if (source.rank() == 0 && count_of(expected) == 1) return source.expanded(expected);
    require(source.shape == expected, "source is {}, the slices of self ({}) at index ({}) are {}", source, self, index,
            expected);
    return source;
  }
};

struct IndexAdd final : SliceWriting {
  Tensor source;
  Scalar alpha;

  // Another dtype of the source is taken: torch-npu's index_reduce of float64 gives one.
  // alpha is applied to the source in the dtype that sums are kept in, before it is added.
  void prepare() override {
    plan_slices(IndexedMode::kAdd, begin(sum_buffer(out.dtype)), {source, {}});
    move.scale(alpha);
  }
};

struct IndexCopy final : SliceWriting {
  Tensor source;
  void prepare() override {
    require(source.dtype == self.dtype, "self is {}, source is {}; both have the same dtype", self, source);
    plan_slices(IndexedMode::kPut, begin(), {source, {}});
  }
};

// Positions come from a tensor or, as numbers, from the host.
struct IndexFill final : SliceWriting {
  Scalar value;
  std::vector<int64_t> positions;

  void prepare() override {
    // The numbers are the operator's own and stay for as long as it does.
    if (!index.defined())
      index = make_tensor(positions.data(), DType::kInt64, {static_cast<int64_t>(positions.size())});
    plan_slices(IndexedMode::kPut, begin(), {{}, value});
  }
};

struct IndexPut final : Writing {
  std::vector<Tensor> indices;
  Tensor values;
  bool accumulate = false;

  void prepare() override {
    require(values.dtype == self.dtype, "self is {}, values is {}; both have the same dtype", self, values);
    const Tensor& target = begin(accumulate ? sum_buffer(out.dtype) : DType::kUndefined);
    const IndexList list(target, indices, [&](const Dims& shape) { return values.expands(shape); });
    offsets.plan(list.index_shape(), list.axes());
    move.plan(accumulate ? IndexedMode::kAdd : IndexedMode::kPut, values.expanded(list.view().shape), list.view(),
              list.index_shape(), list.first_axis());
  }
};

struct Put final : Writing {
  Tensor index, source;
  bool accumulate = false;

  void prepare() override {
    const DType wide = accumulate ? sum_buffer(out.dtype) : DType::kUndefined;
    // Positions count the flattened tensor: anything that does not lie flat goes through a buffer that does.
    const Tensor& target = begin(wide == DType::kUndefined && !out.contiguous() ? out.dtype : wide);
    require(source.dtype == self.dtype, "self is {}, source is {}; both have the same dtype", self, source);
    require(source.count() == index.count(), "source is {}, index is {}; both have equally many elements", source,
            index);
    offsets.plan(index.shape, {{index, self.count(), 1, true, "index"}});
    const Tensor plain = source.shape == index.shape ? source : source.view(index.shape, flat_strides());
    move.plan(accumulate ? IndexedMode::kAdd : IndexedMode::kPut, plain,
              target.view(index.shape, Dims(index.rank(), 0)), index.shape, 0);
  }

 private:
  Dims flat_strides() const {
    require(source.contiguous(), "source is {}, index is {}; give them the same shape", source, index);
    return contiguous_strides(index.shape);
  }
};

// reduction: 0 put, 1 add (times alpha), 2 multiply, 3 maximum, 4 minimum, 6 divide.
struct ScatterNdUpdate final : Writing {
  Tensor indices, updates;
  int64_t reduction = 0;
  Scalar alpha = Scalar(1);

  void prepare() override {
    const IndexedMode mode = reduction == 6 ? IndexedMode::kDivide : scatter_mode(reduction);
    // Only putting may work in the output itself: whatever combines halves rounds once, at the end.
    const Tensor& target = begin(mode == IndexedMode::kPut ? DType::kUndefined : sum_buffer(out.dtype));
    NdIndex index = nd_index(target, indices);
    check_shape(updates, "updates", index.view.shape);
    offsets.plan(index.shape, std::move(index.axes));
    move.plan(mode, updates, index.view, index.shape, 0);
    if (mode == IndexedMode::kAdd) move.scale(alpha);
  }
};

// For each entry b of dimension 0: updates[b] overwrites self[b] from position indices[b] of `axis` on.
struct ScatterUpdate final : Writing {
  Tensor indices, updates;
  int64_t axis = -2;

  void prepare() override {
    const Tensor& target = begin();
    const size_t a = wrap_dim(axis, self.rank());
    require(a > 0 && self.rank() == updates.rank(), "self is {}, updates is {}, axis is {}; axis may not be 0", self,
            updates, axis);
    require(indices.rank() == 1 && indices.shape[0] == updates.shape[0],
            "indices is {}, updates is {}: one position per entry of dimension 0", indices, updates);
    for (size_t i = 0; i < self.rank(); ++i) {
      require(updates.shape[i] <= self.shape[i] && (i == a || i == 0 || updates.shape[i] == self.shape[i]),
              "updates is {}, self is {}: dimension {} does not fit", updates, self, i);
    }
    // The last position at which the whole of updates still fits; beyond it is a bad index.
    offsets.plan(indices.shape, {{indices, self.shape[a] - updates.shape[a] + 1, target.strides[a], false, "indices"}});
    move.plan(IndexedMode::kPut, updates, target.view(updates.shape, target.strides), indices.shape, 0);
  }
};

#define NPU_WRITING_FIELDS(type) in<&type::self>("self"), out<&type::out>("out")
NPU_OPERATOR(IndexAdd, "index_add", "index", NPU_WRITING_FIELDS(IndexAdd), attr<&IndexAdd::dim>("dim"),
             in<&IndexAdd::index>("index"), in<&IndexAdd::source>("source"), attr<&IndexAdd::alpha>("alpha"));
NPU_OPERATOR(IndexCopy, "index_copy", "index", NPU_WRITING_FIELDS(IndexCopy), attr<&IndexCopy::dim>("dim"),
             in<&IndexCopy::index>("index"), in<&IndexCopy::source>("source"))
    .is(kMovesBits);
NPU_OPERATOR(IndexFill, "index_fill", "index", NPU_WRITING_FIELDS(IndexFill), attr<&IndexFill::dim>("dim"),
             optional<&IndexFill::index>("index"), attr<&IndexFill::positions>("positions"),
             in<&IndexFill::value>("value"))
    .is(kMovesBits);
NPU_OPERATOR(IndexPut, "index_put", "index", NPU_WRITING_FIELDS(IndexPut), in<&IndexPut::indices>("indices"),
             in<&IndexPut::values>("values"), attr<&IndexPut::accumulate>("accumulate"));
NPU_OPERATOR(Put, "put", "index", NPU_WRITING_FIELDS(Put), in<&Put::index>("index"), in<&Put::source>("source"),
             attr<&Put::accumulate>("accumulate"));
NPU_OPERATOR(ScatterNdUpdate, "scatter_nd_update", "index", NPU_WRITING_FIELDS(ScatterNdUpdate),
             in<&ScatterNdUpdate::indices>("indices"), in<&ScatterNdUpdate::updates>("updates"),
             attr<&ScatterNdUpdate::reduction>("reduction"), attr<&ScatterNdUpdate::alpha>("alpha"));
NPU_OPERATOR(ScatterUpdate, "scatter_update", "index", NPU_WRITING_FIELDS(ScatterUpdate),
             in<&ScatterUpdate::indices>("indices"), in<&ScatterUpdate::updates>("updates"),
             attr<&ScatterUpdate::axis>("axis"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
