// SPDX-License-Identifier: Apache-2.0
// Copies between two views of memory: permute, flip, roll, repeat, repeat_interleave by a number, expand, slice, slices
// along several dimensions, slice_assign (into a slice), strided_slice,
// channel_shuffle, transpose_reshape, fill_diagonal.
#include <bit>

#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/vector/elementwise/move.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// The stride of every `by`-th element. That of a tensor without elements may be any number.
int64_t scaled(int64_t stride, int64_t by) { return wrap_multiply(stride, by); }

/// Frame of operators that are one Move.
struct OneMove : Operator {
  Tensor self, out;
  Move move;

  void run() override { move.run(); }
  int64_t cost() const override { return move.cost(); }
};

/// Frame of operators that are one Reshape.
struct OneReshape : Operator {
  Tensor self, out;
  Reshape reshape;

  void run() override { reshape.run(); }
  int64_t cost() const override { return reshape.cost(); }
};

Tensor permuted(const Tensor& tensor, const std::vector<int64_t>& order, const char* name) {
  require(order.size() == tensor.rank(), "{} names {} dimensions of {}", name, order.size(), tensor);
  Tensor view = tensor;
  uint32_t seen = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t axis = wrap_dim(order[i], tensor.rank());
    require((seen >> axis & 1u) == 0, "{} names dimension {} twice", name, axis);
    seen |= 1u << axis;
    view.shape[i] = tensor.shape[axis];
    view.strides[i] = tensor.strides[axis];
  }
  return view;
}

struct Permute final : OneMove {
  std::vector<int64_t> dims;
  void prepare() override {
    const Tensor view = permuted(self, dims, "dims");
    check_shape(out, "out", view.shape);
    move.plan(view, out);
  }
};

struct Flip final : OneMove {
  std::vector<int64_t> dims;
  void prepare() override {
    check_shape(out, "out", self.shape);
    // The output is turned, not the input: it does not overlap anything.
    Tensor view = out;
    uint32_t seen = 0;
    for (const int64_t d : dims) {
      const size_t axis = wrap_dim(d, self.rank());
      require((seen >> axis & 1u) == 0, "dims names dimension {} twice; name each dimension to turn once", axis);
      seen |= 1u << axis;
      if (self.rank() == 0 || view.shape[axis] == 0) continue;
      view.offset += (view.shape[axis] - 1) * view.strides[axis];
      view.strides[axis] = -view.strides[axis];
    }
    move.plan(self, view);
  }
};

// out is tiles of self: seen as [repeats[0], self[0], repeats[1], self[1] …].
struct Repeat final : OneMove {
  std::vector<int64_t> repeats;
  void prepare() override {
    require(repeats.size() >= self.rank(), "repeats has {} numbers, self is {}; it needs one per dimension or more",
            repeats.size(), self);
    const size_t lead = repeats.size() - self.rank();
    Dims expected, tiled, to_strides, from_strides;
    require(out.rank() == repeats.size(), "out is {}, repeats has {} numbers", out, repeats.size());
    for (size_t i = 0; i < repeats.size(); ++i) {
      require(repeats[i] >= 0, "repeats[{}] is {}; it must not be negative", i, repeats[i]);
      const int64_t size = i < lead ? 1 : self.shape[i - lead];
      expected.push_back(count_of({size, repeats[i]}));
      // Only what is there takes up rank.
      if (repeats[i] != 1) {
        tiled.push_back(repeats[i]);
        to_strides.push_back(scaled(out.strides[i], size));
        from_strides.push_back(0);
      }
      if (size == 1) continue;
      tiled.push_back(size);
      to_strides.push_back(out.strides[i]);
      from_strides.push_back(self.strides[i - lead]);
    }
    check_shape(out, "out", expected);
    move.plan(self.view(tiled, from_strides), out.view(tiled, to_strides));
  }
};

// dim = kAll: self is flattened first.
struct RepeatEach final : Operator {
  static constexpr int64_t kAll = INT64_MIN;
  Tensor self, out;
  int64_t repeats = 1;
  int64_t dim = kAll;
  Move move;
  Reshape reshape;

  void prepare() override {
    require(repeats >= 0, "repeats is {}; it must not be negative", repeats);
    if (dim == kAll) {
      check_shape(out, "out", {count_of({self.count(), repeats})});
      // A dimension of stride 0 behind the last: read in row-major order, each element comes `repeats` times.
      Tensor wide = self;
      wide.shape.push_back(repeats);
      wide.strides.push_back(0);
      return reshape.plan(wide, out);
    }
    const size_t axis = wrap_dim(dim, self.rank());
    require(self.rank() > 0, "self is {}; repeating along a dimension needs one", self);
    Dims expected = self.shape;
    expected[axis] = count_of({expected[axis], repeats});
    check_shape(out, "out", expected);
    Tensor from = self, to = out;
    from.shape.insert(axis + 1, repeats);
    from.strides.insert(axis + 1, 0);
    to.shape = from.shape;
    to.strides[axis] = scaled(out.strides[axis], repeats);
    to.strides.insert(axis + 1, out.strides[axis]);
    move.plan(from, to);
  }
  void run() override { dim == kAll ? reshape.run() : move.run(); }
  int64_t cost() const override { return 300 + 2 * out.count(); }
};

struct Slice final : OneMove {
  int64_t dim = 0, start = 0, end = INT64_MAX, step = 1;
  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    require(self.rank() > 0 && step > 0, "self is {}, step is {}; slicing needs a dimension and a positive step", self,
            step);
    const int64_t size = self.shape[axis];
    // Ends beyond the dimension are cut to it, as in Python.
    const int64_t first = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
    const int64_t last = std::clamp<int64_t>(end < 0 ? end + size : end, first, size);
    Tensor view = self;
    view.offset += first * self.strides[axis];
    view.shape[axis] = last == first ? 0 : (last - first - 1) / step + 1;
    view.strides[axis] = scaled(view.strides[axis], step);
    check_shape(out, "out", view.shape);
    move.plan(view, out);
  }
};

/// `self` from starts[i] up to ends[i] in steps of steps[i] along axes[i]; without axes along the first ones, without
/// steps in steps of 1. Positions below 0 count from the end, those beyond the dimension are cut to it.
struct SliceRanges {
  const std::vector<int64_t>&starts, &ends, &axes, &steps;

  Tensor of(const Tensor& self, const char* name) const {
    require(starts.size() == ends.size() && (axes.empty() || axes.size() == starts.size()) &&
                (steps.empty() || steps.size() == starts.size()) && starts.size() <= self.rank(),
            "{} is {}; there are {} starts, {} ends, {} axes and {} steps: pass equally many, one a dimension at most",
            name, self, starts.size(), ends.size(), axes.size(), steps.size());
    Tensor view = self;
    uint32_t seen = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      const size_t axis = axes.empty() ? i : wrap_dim(axes[i], self.rank());
      require((seen >> axis & 1u) == 0, "axes name dimension {} twice", axis);
      seen |= 1u << axis;
      cut(view, axis, i);
    }
    return view;
  }

 private:
  void cut(Tensor& view, size_t axis, size_t i) const {
    const int64_t size = view.shape[axis], step = steps.empty() ? 1 : steps[i];
    require(step > 0, "the step of dimension {} is {}; it must be positive", axis, step);
    const int64_t first = std::clamp<int64_t>(starts[i] < 0 ? starts[i] + size : starts[i], 0, size);
    const int64_t last = std::clamp<int64_t>(ends[i] < 0 ? ends[i] + size : ends[i], first, size);
    view.offset += first == last ? 0 : first * view.strides[axis];
    view.shape[axis] = last == first ? 0 : (last - first - 1) / step + 1;
    view.strides[axis] = scaled(view.strides[axis], step);
  }
};

struct Slices final : OneMove {
  std::vector<int64_t> starts, ends, axes, steps;
  void prepare() override {
    const Tensor view = SliceRanges{starts, ends, axes, steps}.of(self, "self");
    check_shape(out, "out", view.shape);
    move.plan(view, out);
  }
};

/// The slice of out gets self; the rest of out stays.
struct SliceAssign final : OneMove {
  std::vector<int64_t> starts, ends, axes, steps;
  void prepare() override {
    require(self.dtype == out.dtype, "the value is {}, it goes into {}; pass one dtype", self, out);
    const Tensor view = SliceRanges{starts, ends, axes, steps}.of(out, "the tensor");
    check_last_step();
    check_shape(self, "the value", view.shape);
    move.plan(self, view);
  }

 private:
  // The devices write whole runs of the last dimension.
  void check_last_step() const {
    for (size_t i = 0; i < steps.size(); ++i) {
      const size_t axis = axes.empty() ? i : wrap_dim(axes[i], out.rank());
      require(axis + 1 != out.rank() || steps[i] == 1, "the step of the last dimension is {}; devices take 1 only",
              steps[i]);
    }
  }
};

/// size[i] is -1 where the size of self stays.
struct Expand final : OneMove {
  std::vector<int64_t> size;
  void prepare() override {
    require(size.size() >= self.rank(), "size has {} entries, self is {}; it has one a dimension, and more before them",
            size.size(), self);
    const size_t lead = size.size() - self.rank();
    Dims shape(size);
    for (size_t i = 0; i < size.size(); ++i) {
      require(size[i] >= 0 || (size[i] == -1 && i >= lead), "size[{}] is {}; pass the size, or -1 for that of self", i,
              size[i]);
      if (size[i] == -1) shape[i] = self.shape[i - lead];
      require(i < lead || self.shape[i - lead] == 1 || self.shape[i - lead] == shape[i],
              "size[{}] is {}, self is {}: only dimensions of size 1 can be expanded", i, size[i], self);
    }
    check_shape(out, "out", shape);
    move.plan(self.expanded(shape), out);
  }
};

// TensorFlow's strided slice: bit i of a mask concerns entry i of begin, end and strides.
struct StridedSlice final : OneMove {
  std::vector<int64_t> begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;

  void prepare() override {
    require(begin.size() == end.size() && begin.size() == strides.size(),
            "begin has {} entries, end {}, strides {}; give equally many", begin.size(), end.size(), strides.size());
    require(std::popcount(static_cast<uint64_t>(ellipsis_mask)) <= 1, "ellipsis_mask is {}; only one bit may be set",
            ellipsis_mask);
    Tensor view = self;
    view.shape = Dims();
    view.strides = Dims();
    size_t axis = 0;
    for (size_t i = 0; i < begin.size(); ++i) {
      if (bit(ellipsis_mask, i)) {
        // The ellipsis takes what the entries behind it leave; a new axis takes none of self's.
        for (const size_t stop = self.rank() - entries_behind(i); axis < stop && axis < self.rank(); ++axis)
          keep(view, axis);
      } else if (bit(new_axis_mask, i)) {
        view.shape.push_back(1);
        view.strides.push_back(0);
      } else {
        require(axis < self.rank(), "begin has {} entries, self is {}", begin.size(), self);
        cut(view, axis++, i);
      }
    }
    while (axis < self.rank()) keep(view, axis++);
    check_shape(out, "out", view.shape);
    move.plan(view, out);
  }

 private:
  static bool bit(int64_t mask, size_t i) { return (mask >> i & 1) != 0; }
  size_t entries_behind(size_t i) const {
    size_t n = 0;
    for (++i; i < begin.size(); ++i) n += bit(new_axis_mask, i) ? 0 : 1;
    return std::min(n, self.rank());
  }
  void keep(Tensor& view, size_t axis) const {
    view.shape.push_back(self.shape[axis]);
    view.strides.push_back(self.strides[axis]);
  }
  void cut(Tensor& view, size_t axis, size_t i) const {
    const int64_t size = self.shape[axis];
    const int64_t step = strides[i];
    require(step != 0, "strides[{}] is 0", i);
    // Walking backwards the end may be one before the first element.
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto wrap = [&](int64_t v) { return std::clamp(v < 0 ? v + size : v, low, high); };
    // A single position is not clamped but refused, as in TensorFlow.
    if (bit(shrink_axis_mask, i)) {
      const int64_t at = begin[i] < 0 ? begin[i] + size : begin[i];
      require(at >= 0 && at < size, "begin[{}] is {}, dimension {} of self ({}) is {}", i, begin[i], axis, self, size);
      view.offset += at * self.strides[axis];
      return;
    }
    const int64_t first = bit(begin_mask, i) ? (step > 0 ? 0 : size - 1) : wrap(begin[i]);
    const int64_t last = bit(end_mask, i) ? (step > 0 ? size : -1) : wrap(end[i]);
    // Whole steps, and one more for what is left of the last one.
    const int64_t n = std::max<int64_t>(0, (last - first + step + (step > 0 ? -1 : 1)) / step);
    // An empty slice keeps its place: `first` may lie outside.
    if (n > 0) view.offset += first * self.strides[axis];
    view.shape.push_back(n);
    view.strides.push_back(self.strides[axis] * step);
  }
};

struct ChannelShuffle final : OneMove {
  int64_t groups = 1;
  void prepare() override {
    require(self.rank() >= 3, "self is {}; channel_shuffle needs 3 dimensions or more", self);
    require(groups > 0 && self.shape[1] % groups == 0,
            "groups is {}, self ({}) has {} channels; they must divide evenly", groups, self, self.shape[1]);
    check_shape(out, "out", self.shape);
    // Channels seen as [groups, each] go to [each, groups]: both sides are walked as [each, groups].
    const int64_t each = self.shape[1] / groups;
    Tensor from = self, to = out;
    from.shape[1] = to.shape[1] = each;
    from.shape.insert(2, groups);
    to.shape.insert(2, groups);
    from.strides.insert(2, scaled(self.strides[1], each));
    to.strides[1] = scaled(out.strides[1], groups);
    to.strides.insert(2, out.strides[1]);
    move.plan(from, to);
  }
};

// transpose_first: permute, then reshape; else reshape, then permute.
struct TransposeReshape final : OneReshape {
  std::vector<int64_t> perm, shape;
  bool transpose_first = true;
  void prepare() override {
    if (transpose_first) {
      check_shape(out, "out", Dims(shape));
      return reshape.plan(permuted(self, perm, "perm"), out);
    }
    require(perm.size() == shape.size() && out.rank() == perm.size(), "perm has {} entries, shape {}, out is {}",
            perm.size(), shape.size(), out);
    Tensor before = out;  // out as it looks before the permutation
    for (size_t i = 0; i < perm.size(); ++i) {
      const size_t axis = wrap_dim(perm[i], perm.size());
      before.shape[axis] = out.shape[i];
      before.strides[axis] = out.strides[i];
    }
    check_shape(before, "out before the permutation", Dims(shape));
    reshape.plan(self, before);
  }
};

struct Roll final : Operator {
  Tensor self, out;
  std::vector<int64_t> shifts, dims;
  std::vector<Move> moves;

  void prepare() override {
    check_shape(out, "out", self.shape);
    require(dims.empty() ? shifts.size() == 1 : dims.size() == shifts.size(),
            "shifts has {} entries, dims {}; give one shift per dimension", shifts.size(), dims.size());
    require(self.rank() > 0 || dims.empty(), "self is {}, dims has {} entries; a scalar has no dimension to roll", self,
            dims.size());
    // Each dimension cuts every piece in two: what moves on and what comes round. All copies are then blocks.
    std::vector<std::pair<Tensor, Tensor>> pieces{{self, out}};
    if (!dims.empty()) {
      for (size_t i = 0; i < dims.size(); ++i) split(pieces, wrap_dim(dims[i], self.rank()), shifts[i]);
    }
    moves.clear();
    for (const auto& [from, to] : pieces) {
      if (dims.empty()) break;
      moves.emplace_back();
      moves.back().plan(from, to);
    }
  }
  void run() override {
    for (const Move& move : moves) move.run();
    if (!dims.empty() || self.count() == 0) return;
    // Without dims the flattened tensor rolls: through a copy that lies flat.
    std::vector<std::byte> memory(static_cast<size_t>(bytes_of(self)));
    const Tensor flat = make_tensor(memory.data(), self.dtype, {self.count()});
    Reshape reshape;
    reshape.plan(self, flat);
    reshape.run();
    const int64_t cut = positive(-shifts[0], self.count()) * static_cast<int64_t>(size_of(self.dtype));
    std::rotate(memory.begin(), memory.begin() + cut, memory.end());
    reshape.plan(flat, out);
    reshape.run();
  }
  int64_t cost() const override { return 300 + 2 * self.count(); }

 private:
  static int64_t positive(int64_t shift, int64_t size) { return size == 0 ? 0 : (shift % size + size) % size; }
  static Tensor part(const Tensor& t, size_t axis, int64_t begin, int64_t size) {
    Tensor view = t;
    view.offset += begin * t.strides[axis];
    view.shape[axis] = size;
    return view;
  }
  static void split(std::vector<std::pair<Tensor, Tensor>>& pieces, size_t axis, int64_t shift) {
    std::vector<std::pair<Tensor, Tensor>> cut;
    for (const auto& [from, to] : pieces) {
      if (from.rank() == 0) return;
      const int64_t size = from.shape[axis];
      const int64_t moved = positive(shift, size);
      cut.emplace_back(part(from, axis, 0, size - moved), part(to, axis, moved, size - moved));
      if (moved > 0) cut.emplace_back(part(from, axis, size - moved, moved), part(to, axis, 0, moved));
    }
    pieces = std::move(cut);
  }
};

// In place. wrap: in a tall matrix the diagonal starts anew after one empty row.
struct FillDiagonal final : Operator {
  Tensor self;
  Scalar fill;
  bool wrap = false;
  std::vector<Move> moves;

  void prepare() override {
    require(self.rank() >= 2, "self is {}; a diagonal needs 2 dimensions or more", self);
    // One step along the diagonal is a step along every dimension.
    int64_t size = self.shape[0], stride = 0;
    for (size_t i = 0; i < self.rank(); ++i) {
      require(self.rank() == 2 || self.shape[i] == self.shape[0],
              "self is {}; with more than 2 dimensions all must be equally long", self);
      size = std::min(size, self.shape[i]);
      stride += self.strides[i];
    }
    moves.clear();
    const int64_t rows = self.shape[0];
    for (int64_t first = 0; first < rows; first += size + 1) {
      Tensor diagonal = self.view({std::min(size, rows - first)}, {stride});
      diagonal.offset += first * self.strides[0];
      moves.emplace_back();
      moves.back().plan(Operand{.tensor = {}, .scalar = fill}, diagonal);
      if (!wrap || self.rank() != 2) break;
    }
  }
  void run() override {
    for (const Move& move : moves) move.run();
  }
};

#define NPU_VIEW_FIELDS(type) in<&type::self>("self"), out<&type::out>("out")
NPU_OPERATOR(Permute, "permute", "shape", NPU_VIEW_FIELDS(Permute), attr<&Permute::dims>("dims")).is(kMovesBits);
NPU_OPERATOR(Flip, "flip", "shape", NPU_VIEW_FIELDS(Flip), attr<&Flip::dims>("dims")).is(kMovesBits);
NPU_OPERATOR(Repeat, "repeat", "shape", NPU_VIEW_FIELDS(Repeat), attr<&Repeat::repeats>("repeats")).is(kMovesBits);
NPU_OPERATOR(RepeatEach, "repeat_each", "shape", NPU_VIEW_FIELDS(RepeatEach), attr<&RepeatEach::repeats>("repeats"),
             attr<&RepeatEach::dim>("dim"))
    .is(kMovesBits);
NPU_OPERATOR(Slice, "slice", "shape", NPU_VIEW_FIELDS(Slice), attr<&Slice::dim>("dim"), attr<&Slice::start>("start"),
             attr<&Slice::end>("end"), attr<&Slice::step>("step"))
    .is(kMovesBits);
#define NPU_RANGE_FIELDS(type) \
  attr<&type::starts>("starts"), attr<&type::ends>("ends"), attr<&type::axes>("axes"), attr<&type::steps>("steps")
NPU_OPERATOR(Slices, "slices", "shape", NPU_VIEW_FIELDS(Slices), NPU_RANGE_FIELDS(Slices)).is(kMovesBits);
NPU_OPERATOR(SliceAssign, "slice_assign", "shape", in<&SliceAssign::self>("self"), NPU_RANGE_FIELDS(SliceAssign),
             inout<&SliceAssign::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Expand, "expand", "shape", NPU_VIEW_FIELDS(Expand), attr<&Expand::size>("size")).is(kMovesBits);
NPU_OPERATOR(StridedSlice, "strided_slice", "shape", NPU_VIEW_FIELDS(StridedSlice), attr<&StridedSlice::begin>("begin"),
             attr<&StridedSlice::end>("end"), attr<&StridedSlice::strides>("strides"),
             attr<&StridedSlice::begin_mask>("begin_mask"), attr<&StridedSlice::end_mask>("end_mask"),
             attr<&StridedSlice::ellipsis_mask>("ellipsis_mask"), attr<&StridedSlice::new_axis_mask>("new_axis_mask"),
             attr<&StridedSlice::shrink_axis_mask>("shrink_axis_mask"))
    .is(kMovesBits);
NPU_OPERATOR(ChannelShuffle, "channel_shuffle", "shape", NPU_VIEW_FIELDS(ChannelShuffle),
             attr<&ChannelShuffle::groups>("groups"))
    .is(kMovesBits);
NPU_OPERATOR(TransposeReshape, "transpose_reshape", "shape", NPU_VIEW_FIELDS(TransposeReshape),
             attr<&TransposeReshape::perm>("perm"), attr<&TransposeReshape::shape>("shape"),
             attr<&TransposeReshape::transpose_first>("transpose_first"))
    .is(kMovesBits);
NPU_OPERATOR(Roll, "roll", "shape", NPU_VIEW_FIELDS(Roll), attr<&Roll::shifts>("shifts"), attr<&Roll::dims>("dims"))
    .is(kMovesBits);
NPU_OPERATOR(FillDiagonal, "fill_diagonal", "shape", inout<&FillDiagonal::self>("self"),
             attr<&FillDiagonal::fill>("fill"), attr<&FillDiagonal::wrap>("wrap"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
