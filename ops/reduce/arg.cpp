// SPDX-License-Identifier: Apache-2.0
// Where the largest or smallest element along a dimension stands, and which it is: max_dim, min_dim, argmax, argmin,
// cummax, cummin. The first NaN wins, then the first of equal elements (cummax, cummin: the last of equal ones).
#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

template <class T, bool kMax>
// Row by row, not as a Reduction: the position of the first of equal elements needs the order that lanes give up.
int64_t position_of(const T* x, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    // Nothing beats a NaN, and the first one counts.
    if (is_nan(x[best])) return best;
    const bool better = kMax ? x[i] > x[best] : x[i] < x[best];
    if (better || is_nan(x[i])) best = i;
  }
  return best;
}

template <bool kMax>
// keepdim is not read: the shape of an output says whether the dimension stays.
struct ExtremeDim final : Operator {
  Tensor self, out, indices;
  int64_t dim = 0;
  bool keepdim = false;
  DType slot = DType::kFloat;
  Rows rows, values, positions;

  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    slot = real_slot(self.dtype);
    rows = Rows(self, axis, slot);
    // A row without elements has no extreme; no rows at all is an empty result.
    require(rows.length() > 0 || rows.count() == 0,
            "self is {}: dimension {} is empty, and an extreme of nothing does not exist", self, axis);
    values = one_per_row(out, "out", self, axis, slot);
    positions = one_per_row(indices, "indices", self, axis, DType::kInt64);
  }
  void run() override {
    visit_real(slot, [this](auto t) { find(t); });
  }
  int64_t cost() const override { return 200 + rows.count() * rows.length(); }

 private:
  template <class T>
  void find(T) const {
    for_rows(rows, [this](int64_t begin, int64_t end) {
      std::vector<T> buffer(static_cast<size_t>(rows.length()));
      for (int64_t row = begin; row < end; ++row) {
        const auto* x = static_cast<const T*>(rows.load(row, buffer.data()));
        const int64_t at = position_of<T, kMax>(x, rows.length());
        T value = x[at];
        write(values, row, value);
        write(positions, row, at);
      }
    });
  }
  template <class T>
  static void write(const Rows& to, int64_t row, T value) {
    if (to.length() == 0) return;  // not wanted
    T place;
    T* at = static_cast<T*>(to.target(row, &place));
    *at = value;
    to.store(row, at);
  }
};

template <bool kMax>
struct CumulativeExtreme final : Operator {
  Tensor self, out, indices;
  int64_t dim = 0;
  DType slot = DType::kFloat;
  Rows rows, values, positions;

  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    slot = real_slot(self.dtype);
    check_shape(out, "values", self.shape);
    check_shape(indices, "indices", self.shape);
    rows = Rows(self, axis, slot);
    values = Rows(out, axis, slot);
    positions = Rows(indices, axis, DType::kInt64);
  }
  void run() override {
    visit_real(slot, [this](auto t) { scan(t); });
  }
  int64_t cost() const override { return 200 + 4 * rows.count() * rows.length(); }

 private:
  template <class T>
  void scan(T) const {
    for_rows(rows, [this](int64_t begin, int64_t end) {
      const auto n = static_cast<size_t>(rows.length());
      // Results go beside where an output is strided or of another type; a row that is direct needs no copy.
      std::vector<T> buffer(n), best(n);
      std::vector<int64_t> at(n);
      for (int64_t row = begin; row < end; ++row) {
        const auto* x = static_cast<const T*>(rows.load(row, buffer.data()));
        auto* v = static_cast<T*>(values.target(row, best.data()));
        auto* p = static_cast<int64_t*>(positions.target(row, at.data()));
        scan_row(x, v, p);
        values.store(row, v);
        positions.store(row, p);
      }
    });
  }
  template <class T>
  void scan_row(const T* x, T* v, int64_t* p) const {
    if (rows.length() == 0) return;
    T best = x[0];
    int64_t at = 0;
    for (int64_t i = 0; i < rows.length(); ++i) {
      // `>=` keeps the last of equal elements, as torch's cumulative functions do and its max and min do not.
      const bool reached = kMax ? x[i] >= best : x[i] <= best;
      if (is_nan(x[i]) || (!is_nan(best) && reached)) {
        best = x[i];
        at = i;
      }
      v[i] = best;
      p[i] = at;
    }
  }
};

using MaxDim = ExtremeDim<true>;
using MinDim = ExtremeDim<false>;
// argmax is max_dim without `out`: values that nobody asks for are rows of length 0.
using ArgMax = MaxDim;
using ArgMin = MinDim;
using CumMax = CumulativeExtreme<true>;
using CumMin = CumulativeExtreme<false>;

#define NPU_DIM_FIELDS(type) in<&type::self>("self"), attr<&type::dim>("dim"), attr<&type::keepdim>("keepdim")
NPU_OPERATOR(MaxDim, "max_dim", "reduce", NPU_DIM_FIELDS(MaxDim), out<&MaxDim::out>("out"),
             out<&MaxDim::indices>("indices"))
    .is(kMovesBits);
NPU_OPERATOR(MinDim, "min_dim", "reduce", NPU_DIM_FIELDS(MinDim), out<&MinDim::out>("out"),
             out<&MinDim::indices>("indices"))
    .is(kMovesBits);
NPU_OPERATOR(ArgMax, "argmax", "reduce", NPU_DIM_FIELDS(ArgMax), out<&ArgMax::indices>("indices"));
NPU_OPERATOR(ArgMin, "argmin", "reduce", NPU_DIM_FIELDS(ArgMin), out<&ArgMin::indices>("indices"));
NPU_OPERATOR(CumMax, "cummax", "reduce", in<&CumMax::self>("self"), attr<&CumMax::dim>("dim"),
             out<&CumMax::out>("values"), out<&CumMax::indices>("indices"))
    .is(kMovesBits);
NPU_OPERATOR(CumMin, "cummin", "reduce", in<&CumMin::self>("self"), attr<&CumMin::dim>("dim"),
             out<&CumMin::out>("values"), out<&CumMin::indices>("indices"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
