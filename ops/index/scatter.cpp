// SPDX-License-Identifier: Apache-2.0
// scatter: out = self, then out[index[i][j]][j] (along dim) gets src[i][j] or value, put or combined. Sums of halves
// are kept in float32. include_self = false: places that are written start from the reduction's neutral number.
#include <limits>

#include "ops/index/writing.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

Scalar neutral_of(IndexedMode mode, DType dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  // Whole numbers have no infinity: the end of their own range is neutral, in each dtype.
  const bool whole = !is_floating(dtype);
  if (mode == IndexedMode::kMultiply) return Scalar(1);
  if (mode == IndexedMode::kAdd || mode == IndexedMode::kPut) return Scalar(0);
  const bool maximum = mode == IndexedMode::kMaximum;
  if (!whole) return Scalar(maximum ? -infinity : infinity);
  Scalar limit(int64_t{0});
  visit_dtype(dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T>) {
      limit = Scalar(static_cast<int64_t>(maximum ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max()));
    }
  });
  return limit;
}

// How many values a mean is taken over, then the division; whole numbers round down.
template <class T>
void divide(T* sums, const std::vector<int64_t>& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    // Zero or one value needs no division; with none the place keeps what it had.
    if (counts[i] < 2) continue;
    if constexpr (std::is_integral_v<T>) {
      const T quotient = static_cast<T>(sums[i] / static_cast<T>(counts[i]));
      // C rounds towards 0, torch's mean down.
      sums[i] = sums[i] % static_cast<T>(counts[i]) < 0 ? quotient - 1 : quotient;
    } else {
      sums[i] /= static_cast<T>(counts[i]);
    }
  }
}

struct Scatter final : Writing {
  Operand src;
  Tensor index;
  int64_t dim = 0;
  int64_t reduction = 0;
  bool include_self = true;
  bool mean = false;
  Tensor view;
  IndexedMove reset;

  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    const IndexedMode mode = scatter_mode(reduction);
    mean = reduction == 5;
    const Tensor& target = begin(buffer_for(mode));
    // The index may be smaller than self: only the places that it names are written.
    check_index(axis);
    view = along(target, axis);
    const Tensor plain = src.is_scalar() ? constant(src.scalar, index.shape) : source(mode);
    const int64_t size = self.rank() == 0 ? 1 : self.shape[axis];
    offsets.plan(index.shape, {{index, size, self.rank() == 0 ? 0 : target.strides[axis], false, "index"}});
    move.plan(mode, plain, view, index.shape, 0);
    // Only places that are written: what no index names stays self's, include_self or not.
    if (include_self || mode == IndexedMode::kPut) return;
    reset.plan(IndexedMode::kPut, constant(neutral_of(mode, target.dtype), index.shape), view, index.shape, 0);
  }

 private:
  DType buffer_for(IndexedMode mode) const {
    if (mode == IndexedMode::kPut) return DType::kUndefined;
    require(!mean || !is_complex(self.dtype), "self is {}; a scattered mean needs a real dtype", self);
    // Integers keep their sums in int64: a narrow dtype would wrap before it is divided.
    return mean ? real_slot(self.dtype) : sum_buffer(self.dtype);
  }
  void check_index(size_t axis) const {
    require(self.rank() == index.rank() || index.count() == 0 || self.rank() + index.rank() == 1,
            "self is {}, index is {}; both have the same number of dimensions", self, index);
    for (size_t i = 0; i < std::min(self.rank(), index.rank()); ++i) {
      // Along dim the index may be longer than self: places then get several values.
      require(i == axis || index.shape[i] <= self.shape[i] || index.count() == 0,
              "index is {}, self is {}: index is larger in dimension {}, which is not dim", index, self, i);
    }
  }
  Tensor along(const Tensor& target, size_t axis) const {
    Tensor out_view = target.view(index.shape, Dims(index.rank(), 0));
    for (size_t i = 0; i < std::min(target.rank(), index.rank()); ++i) {
      if (i != axis) out_view.strides[i] = target.strides[i];
    }
    return out_view;
  }
  Tensor source(IndexedMode mode) const {
    const Tensor& s = src.tensor;
    // Sums take another dtype: torch-npu's scatter_reduce of float64 gives one.
    require(mode == IndexedMode::kAdd || s.dtype == self.dtype, "self is {}, src is {}; both have the same dtype", self,
            s);
    require(s.rank() == index.rank() || index.count() == 0 || s.rank() + index.rank() == 1,
            "src is {}, index is {}; both have the same number of dimensions", s, index);
    Tensor part = s.view(index.shape, Dims(index.rank(), 0));
    for (size_t i = 0; i < std::min(s.rank(), index.rank()); ++i) {
      require(index.shape[i] <= s.shape[i] || index.count() == 0,
              "index is {}, src is {}: index is larger in dimension {}", index, s, i);
      part.strides[i] = s.strides[i];
    }
    return part;
  }
  void before(const std::vector<int64_t>& at, const Tensor& target) override {
    if (!include_self && reduction != 0) reset.run(at, target.bytes());
  }
  // The buffer of a mean is row-major, so its offsets address the counts as well.
  void after(const std::vector<int64_t>& at, const Tensor& target) override {
    if (!mean) return;
    // self counts as one of the values where it is included.
    std::vector<int64_t> counts(static_cast<size_t>(target.count()), include_self ? 1 : 0);
    int64_t one = 1;
    const Tensor plain = make_tensor(&one, DType::kInt64, {}).expanded(index.shape);
    Tensor places = view;
    places.dtype = DType::kInt64;
    places.data = counts.data();
    IndexedMove tally;
    // The same walk with ones instead of values, through the same offsets.
    tally.plan(IndexedMode::kAdd, plain, places, index.shape, 0);
    tally.run(at);
    visit_real(target.dtype, [&](auto t) { divide(target.as<decltype(t)>(), counts); });
  }
};

NPU_OPERATOR(Scatter, "scatter", "index", in<&Scatter::self>("self"), attr<&Scatter::dim>("dim"),
             in<&Scatter::index>("index"), in<&Scatter::src>("src"), attr<&Scatter::reduction>("reduction"),
             attr<&Scatter::include_self>("include_self"), out<&Scatter::out>("out"));

}  // namespace
}  // namespace npu::ops
