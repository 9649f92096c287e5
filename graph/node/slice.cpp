// SPDX-License-Identifier: Apache-2.0
// Parts of tensors by begin, end and step. A part is a view of the whole.
#include <algorithm>
#include <bit>

#include "graph/node/array.h"

namespace npu::graph {
namespace {

void slice(Lowering& l) {
  decline_objects(l);
  Planned view = l.input(0);
  const size_t rank = view.shape().size();
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

/// begin, end and strides from input `first` on, with the masks of the attributes.
class StridedSlice {
 public:
  StridedSlice(const Lowering& l, size_t first)
      : begin_(l.integers(first)), end_(l.integers(first + 1)), step_(l.integers(first + 2)) {
    const auto mask = [&](const char* name) { return l.attributes().get_or<int64_t>(name, 0); };
    begin_mask_ = mask("begin_mask"), end_mask_ = mask("end_mask"), ellipsis_ = mask("ellipsis_mask");
    new_axis_ = mask("new_axis_mask"), shrink_ = mask("shrink_axis_mask");
    require(begin_.size() == end_.size() && begin_.size() == step_.size(),
            "begin has {} entries, end {}, strides {}; give equally many", begin_.size(), end_.size(), step_.size());
    require(std::popcount(static_cast<uint64_t>(ellipsis_)) <= 1, "only one ellipsis may be given");
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
      if (bit(ellipsis_, i)) {
        const size_t behind = entries_behind(i);
        while (axis + behind < shape.size()) keep();
      } else if (bit(new_axis_, i)) {
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
  static bool bit(int64_t mask, size_t i) { return (mask >> i & 1) != 0; }
  size_t entries_behind(size_t i) const {
    size_t count = 0;
    for (++i; i < begin_.size(); ++i) count += bit(new_axis_, i) ? 0 : 1;
    return count;
  }
  void cut(Planned& view, const Planned& whole, size_t axis, size_t i) const {
    const int64_t size = whole.shape()[axis], step = step_[i], stride = whole.view.strides[axis];
    require(step != 0, "strides[{}] must be non-zero", i);
    if (bit(shrink_, i)) {
      const int64_t at = begin_[i] < 0 ? begin_[i] + size : begin_[i];
      require(at >= 0 && at < size, "slice index {} of dimension {} out of bounds", begin_[i], axis);
      require(step > 0, "only stride 1 allowed on dimension {}, which is indexed by a number", axis);
      view.view.offset += at * stride;
      return;
    }
    const bool forward = step > 0;
    const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
    const auto place = [&](int64_t v) { return std::clamp(v < 0 ? v + size : v, low, high); };
    const int64_t first = bit(begin_mask_, i) ? (forward ? 0 : size - 1) : place(begin_[i]);
    const int64_t last = bit(end_mask_, i) ? (forward ? size : -1) : place(end_[i]);
    const int64_t count = std::max<int64_t>(0, (last - first + step + (forward ? -1 : 1)) / step);
    if (count > 0) view.view.offset += first * stride;
    view.view.shape.push_back(count);
    view.view.strides.push_back(stride * step);
  }

  std::vector<int64_t> begin_, end_, step_;
  int64_t begin_mask_ = 0, end_mask_ = 0, ellipsis_ = 0, new_axis_ = 0, shrink_ = 0;
};

void strided_slice(Lowering& l) {
  decline_objects(l);
  give(l, 0, StridedSlice(l, 1).of(l.input(0)));
}

/// Zeros, with the gradient where the slice was taken from.
void strided_slice_grad(Lowering& l) {
  const Planned gradient = l.input(4);
  const std::vector<int64_t> sizes = l.integers(0);
  const StridedSlice part(l, 1);
  const Planned out = l.make(0, gradient.dtype(), Dims(sizes));
  const Planned place = part.of(out);
  require(place.shape() == gradient.shape(), "the gradient is {}, the slice {}", gradient.shape(), place.shape());
  fill(l, out, Scalar(0));
  copy(l, gradient, place);
}

NPU_NODE("Slice", slice);
NPU_NODE("StridedSlice", strided_slice);
NPU_NODE("StridedSliceGrad", strided_slice_grad);

}  // namespace
}  // namespace npu::graph
