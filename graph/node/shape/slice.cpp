// SPDX-License-Identifier: Apache-2.0
// Parts of tensors by begin, end and step. A part is a view of the whole.
#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "graph/node/array.h"
#include "graph/node/resource.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

/// Of a size that is known, from a place that only the run knows. False where the size follows from the place.
bool slice_in_run(Lowering& l) {
  if (l.known(1) || !l.known(2)) return false;
  const std::vector<int64_t> size = l.integers(2);
  if (std::any_of(size.begin(), size.end(), [](int64_t n) { return n < 0; })) return false;
  std::vector<int64_t> axes(size.size());
  std::iota(axes.begin(), axes.end(), 0);
  l.call("slice_at")
      .set("self", l.input(0))
      .set("begin", l.input(1))
      .set("axes", axes)
      .set("out", l.make(0, l.dtype(0), Dims(size)));
  return true;
}

void slice(Lowering& l) {
  decline_objects(l);
  Planned view = l.input(0);
  const size_t rank = view.shape().size();
  if (slice_in_run(l)) return;
  const std::vector<int64_t> begin = l.integers(1), size = l.integers(2);
  require(begin.size() == rank && size.size() == rank, "begin has {} entries, size {}; the input is {}", begin.size(),
          size.size(), view.shape());
  const Dims shape = view.shape();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t wanted = size[i] == -1 ? shape[i] - begin[i] : size[i];
    require(begin[i] >= 0 && wanted >= 0 && begin[i] + wanted <= shape[i],
            "begin {} and size {} of dimension {} do not fit in {}", begin[i], size[i], i, shape);
    view = narrowed(view, i, begin[i], wanted);
  }
  give(l, 0, view);
}

bool bit(int64_t mask, size_t i) { return (mask >> i & 1) != 0; }

/// The masks of the attributes: bit i concerns entry i of begin, end and strides.
struct Masks {
  explicit Masks(const Lowering& l) {
    const auto mask = [&](const char* name) { return l.attributes().get_or<int64_t>(name, 0); };
    begin = mask("begin_mask"), end = mask("end_mask"), ellipsis = mask("ellipsis_mask");
    new_axis = mask("new_axis_mask"), shrink = mask("shrink_axis_mask");
  }
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
};

/// A slice of which only the run knows the places: those given by one number each; all other axes are taken whole.
struct RunSlice {
  std::vector<int64_t> axes;  ///< which axis each entry of begin is about, -1: none
  Dims block;                 ///< sizes with the indexed axes
  Dims shape;                 ///< sizes as the node gives them
};

/// Nothing where the places are known, or decide sizes. Inputs from `first` on are begin, end and strides.
std::optional<RunSlice> run_slice(const Lowering& l, size_t first, const Dims& whole) {
  const Masks m(l);
  if (l.known(first) || !l.known(first + 2) || m.ellipsis != 0) return std::nullopt;
  RunSlice out;
  size_t axis = 0;
  for (const int64_t step : l.integers(first + 2)) {
    const size_t i = out.axes.size();
    const bool added = bit(m.new_axis, i), indexed = !added && bit(m.shrink, i);
    if (step != 1 || (!added && axis >= whole.size())) return std::nullopt;
    if (!added && !indexed && !(bit(m.begin, i) && bit(m.end, i))) return std::nullopt;
    out.axes.push_back(indexed ? static_cast<int64_t>(axis) : -1);
    if (!added) out.block.push_back(indexed ? 1 : whole[axis]);
    if (!indexed) out.shape.push_back(added ? 1 : whole[axis]);
    if (!added) ++axis;
  }
  for (; axis < whole.size(); ++axis) out.block.push_back(whole[axis]), out.shape.push_back(whole[axis]);
  return out;
}

/// begin, end and strides from input `first` on, with the masks of the attributes.
class StridedSlice {
 public:
  StridedSlice(const Lowering& l, size_t first)
      : begin_(l.integers(first)), end_(l.integers(first + 1)), step_(l.integers(first + 2)), masks_(l) {
    require(begin_.size() == end_.size() && begin_.size() == step_.size(),
            "begin has {} entries, end {}, strides {}; give equally many", begin_.size(), end_.size(), step_.size());
    require(std::popcount(static_cast<uint64_t>(masks_.ellipsis)) <= 1, "only one ellipsis may be given");
  }

  Planned of(const Planned& whole) const {
    Planned view = restrided(whole, {}, {});
    const Dims& shape = whole.shape();
    size_t axis = 0;
    const auto keep = [&] {
      view.view.shape.push_back(shape[axis]);
      view.view.strides.push_back(whole.view.strides[axis]);
      ++axis;
    };
    for (size_t i = 0; i < begin_.size(); ++i) {
      if (bit(masks_.ellipsis, i)) {
        const size_t behind = entries_behind(i);
        while (axis + behind < shape.size()) keep();
      } else if (bit(masks_.new_axis, i)) {
        view.view.shape.push_back(1);
        view.view.strides.push_back(0);
      } else {
        require(axis < shape.size(), "{} entries are given for {}", begin_.size(), shape);
        cut(view, whole, axis++, i);
      }
    }
    while (axis < shape.size()) keep();
    return view;
  }

 private:
  size_t entries_behind(size_t i) const {
    size_t count = 0;
    for (++i; i < begin_.size(); ++i) count += bit(masks_.new_axis, i) ? 0 : 1;
    return count;
  }
  void cut(Planned& view, const Planned& whole, size_t axis, size_t i) const {
    const int64_t size = whole.shape()[axis], step = step_[i], stride = whole.view.strides[axis];
    require(step != 0, "strides[{}] must be non-zero", i);
    if (bit(masks_.shrink, i)) {
      const int64_t at = begin_[i] < 0 ? begin_[i] + size : begin_[i];
      require(at >= 0 && at < size, "slice index {} of dimension {} out of bounds", begin_[i], axis);
      require(step > 0, "only stride 1 allowed on dimension {}, which is indexed by a number", axis);
      view.view.offset += at * stride;
      return;
    }
    const bool forward = step > 0;
    const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
    const auto place = [&](int64_t v) { return std::clamp(v < 0 ? v + size : v, low, high); };
    const int64_t first = bit(masks_.begin, i) ? (forward ? 0 : size - 1) : place(begin_[i]);
    const int64_t last = bit(masks_.end, i) ? (forward ? size : -1) : place(end_[i]);
    const int64_t count = std::max<int64_t>(0, (last - first + step + (forward ? -1 : 1)) / step);
    if (count > 0) view.view.offset += first * stride;
    view.view.shape.push_back(count);
    view.view.strides.push_back(stride * step);
  }

  std::vector<int64_t> begin_, end_, step_;
  Masks masks_;
};

void strided_slice(Lowering& l) {
  decline_objects(l);
  const auto later = run_slice(l, 1, l.shape(0));
  if (!later) return give(l, 0, StridedSlice(l, 1).of(l.input(0)));
  const Planned out = l.make(0, l.dtype(0), later->shape);
  l.call("slice_at")
      .set("self", l.input(0))
      .set("begin", l.input(1))
      .set("axes", later->axes)
      .set("wrap", true)
      .set("out", reshaped(out, later->block));
}

void strided_slice_grad_in_run(Lowering& l, const RunSlice& slice, const Dims& shape) {
  require(slice.shape == l.shape(4), "the gradient is {}, the slice {}", l.shape(4), slice.shape);
  const Planned gradient = in_rows(l, l.input(4)), out = l.make(0, gradient.dtype(), shape);
  fill(l, out, Scalar(0));
  l.call("slice_put")
      .set("source", reshaped(gradient, slice.block))
      .set("begin", l.input(1))
      .set("axes", slice.axes)
      .set("wrap", true)
      .set("out", out);
}

/// Zeros, with the gradient where the slice was taken from.
void strided_slice_grad(Lowering& l) {
  const Planned gradient = l.input(4);
  const std::vector<int64_t> sizes = l.integers(0);
  const auto later = run_slice(l, 1, Dims(sizes));
  if (later) return strided_slice_grad_in_run(l, *later, Dims(sizes));
  const StridedSlice part(l, 1);
  const Planned out = l.make(0, gradient.dtype(), Dims(sizes));
  const Planned place = part.of(out);
  require(place.shape() == gradient.shape(), "the gradient is {}, the slice {}", gradient.shape(), place.shape());
  fill(l, out, Scalar(0));
  copy(l, gradient, place);
}

/// The whole, with `value` in the place of a part.
void strided_slice_update(Lowering& l) {
  decline_objects(l);
  const Planned out = l.make(0, l.dtype(0), l.shape(0)), place = StridedSlice(l, 1).of(out);
  copy(l, l.input(0), out);
  copy(l, expanded(l.input(4), place.shape()), place);
}

/// The same in a variable.
void strided_slice_assign(Lowering& l) {
  const Tensor meta = l.variable(0);
  if (!meta.defined()) fail(Code::kUninitialized, "nothing was assigned to the variable yet; assign it first");
  const Planned whole{ValueType::tensor(meta.dtype), make_tensor(nullptr, meta.dtype, meta.shape)};
  const Planned handle = l.input(0), place = StridedSlice(l, 1).of(whole);
  Planned value = l.input(4);
  value.literal = nullptr;
  value = expanded(value, place.shape());
  l.run({handle, value}, [=](Frame& frame) {
    const Tensor from = frame.tensor(value);
    variable_of(frame, handle).update([&](const Tensor& tensor) {
      require(tensor.shape == meta.shape, "the variable became {} while the function ran; it was {}", tensor, meta);
      Tensor to = tensor.view(place.shape(), place.view.strides);
      to.offset += place.view.offset;
      ops::Call("copy").set("self", ops::Operand{from, {}}).set("out", to).run();
    });
  });
}

NPU_NODE("Slice", slice);
NPU_NODE("StridedSlice", strided_slice);
NPU_NODE("StridedSliceGrad", strided_slice_grad);
NPU_NODE("TensorStridedSliceUpdate", strided_slice_update);
NPU_NODE("ResourceStridedSliceAssign", strided_slice_assign);

}  // namespace
}  // namespace npu::graph
