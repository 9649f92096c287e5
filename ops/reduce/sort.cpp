// SPDX-License-Identifier: Apache-2.0
// sort, argsort, topk, kthvalue, median and nanmedian along a dimension. A NaN counts as larger than every number;
// equal elements keep their order, so results do not depend on the machine.
#include <limits>
#include <numeric>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// What one row is turned into: `values[i] = x[at[i]]`.
template <class T>
// Positions are ordered, not elements: the position breaks ties, so that every comparison decides. The order is then
// unique, whichever algorithm finds it: `sort` is stable at the price of a plain sort, and topk takes the first of
// equals.
struct Order {
  const T* x;
  bool descending;
  bool operator()(int64_t a, int64_t b) const {
    if (less_nan_last(x[a], x[b])) return !descending;
    if (less_nan_last(x[b], x[a])) return descending;
    return a < b;
  }
};

// The frame: loads each row, lets Derived::pick(x, n, at) order the positions, writes the first `kept` of them.
template <class Derived>
struct Ordered : Operator {
  Tensor self, values, indices;
  int64_t dim = -1;
  DType slot = DType::kFloat;
  size_t axis = 0;
  Rows rows, value_rows, index_rows;

  void run() override {
    // Values are compared in the slot, where a half keeps its order and an int64 every digit.
    visit_real(slot, [this](auto t) { order_rows(t); });
  }
  int64_t cost() const override { return 500 + 60 * rows.count() * rows.length(); }

 protected:
  void plan_input() {
    axis = wrap_dim(dim, self.rank());
    slot = real_slot(self.dtype);
    rows = Rows(self, axis, slot);
  }

 private:
  template <class T>
  void order_rows(T) const {
    for_rows(rows, [this](int64_t begin, int64_t end) {
      const int64_t n = rows.length();
      // Either output may be left out.
      const int64_t kept = value_rows.length() > 0 ? value_rows.length() : index_rows.length();
      std::vector<T> buffer(static_cast<size_t>(n)), picked(static_cast<size_t>(kept));
      std::vector<int64_t> at(static_cast<size_t>(n)), written(static_cast<size_t>(kept));
      for (int64_t row = begin; row < end; ++row) {
        const auto* x = static_cast<const T*>(rows.load(row, buffer.data()));
        std::iota(at.begin(), at.end(), 0);
        const int64_t first = static_cast<const Derived*>(this)->pick(x, at);
        // All is read before anything is written: values may share memory with self.
        for (int64_t i = 0; i < kept; ++i) picked[static_cast<size_t>(i)] = x[at[static_cast<size_t>(first + i)]];
        write(value_rows, row, picked.data());
        write(index_rows, row, at.data() + first);
      }
    });
  }
  template <class T>
  static void write(const Rows& to, int64_t row, const T* from) {
    if (to.length() == 0) return;
    if (!to.direct()) return to.store(row, from);
    std::copy_n(from, to.length(), static_cast<T*>(to.target(row, nullptr)));
  }
};

struct Sort final : Ordered<Sort> {
  bool descending = false;
  // Read by nobody: the order is stable in any case.
  bool stable = false;

  void prepare() override {
    plan_input();
    if (indices.defined()) check_shape(indices, "indices", self.shape);
    if (indices.defined()) index_rows = Rows(indices, axis, DType::kInt64);
    if (values.defined()) check_shape(values, "values", self.shape);
    if (values.defined()) value_rows = Rows(values, axis, slot);
  }
  template <class T>
  int64_t pick(const T* x, std::vector<int64_t>& at) const {
    std::sort(at.begin(), at.end(), Order<T>{x, descending});
    return 0;
  }
};

struct Topk final : Ordered<Topk> {
  int64_t k = 1;
  bool largest = true;
  bool sorted = true;

  void prepare() override {
    plan_input();
    require(k >= 0 && k <= rows.length(), "k is {}, dimension {} of self ({}) has {} elements", k, axis, self,
            rows.length());
    Dims expected = self.shape;
    if (self.rank() > 0) expected[axis] = k;
    check_shape(values, "values", expected);
    check_shape(indices, "indices", expected);
    value_rows = Rows(values, axis, slot);
    index_rows = Rows(indices, axis, DType::kInt64);
  }
  template <class T>
  int64_t pick(const T* x, std::vector<int64_t>& at) const {
    const Order<T> order{x, largest};
    // Selecting first costs one pass; only what is kept is sorted.
    if (k < static_cast<int64_t>(at.size())) std::nth_element(at.begin(), at.begin() + k, at.end(), order);
    // Sorted whether asked for or not: unsorted results would depend on the library's nth_element.
    std::sort(at.begin(), at.begin() + k, order);
    return 0;
  }
};

struct Kthvalue final : Ordered<Kthvalue> {
  int64_t k = 1;
  bool keepdim = false;

  void prepare() override {
    plan_input();
    require(k >= 1 && k <= rows.length(), "k is {}, dimension {} of self ({}) has {} elements; k counts from 1", k,
            axis, self, rows.length());
    value_rows = one_per_row(values, "values", self, axis, slot);
    index_rows = one_per_row(indices, "indices", self, axis, DType::kInt64);
  }
  template <class T>
  int64_t pick(const T* x, std::vector<int64_t>& at) const {
    // One element in its place is enough: a pass or two, where sorting takes a logarithm of them.
    std::nth_element(at.begin(), at.begin() + (k - 1), at.end(), Order<T>{x, false});
    return k - 1;
  }
};

// The lower of the two middle elements. kSkipNan: of the numbers only; else a NaN is the median of a row that has one.
template <bool kSkipNan>
struct Median final : Ordered<Median<kSkipNan>> {
  using Base = Ordered<Median<kSkipNan>>;
  bool keepdim = false;

  void prepare() override {
    this->plan_input();
    require(this->rows.length() > 0 || this->rows.count() == 0, "self is {}: dimension {} is empty and has no median",
            this->self, this->axis);
    this->value_rows = one_per_row(this->values, "values", this->self, this->axis, this->slot);
    this->index_rows = one_per_row(this->indices, "indices", this->self, this->axis, DType::kInt64);
  }
  template <class T>
  int64_t pick(const T* x, std::vector<int64_t>& at) const {
    const auto n = static_cast<int64_t>(at.size());
    int64_t nans = 0, first_nan = 0;
    for (int64_t i = n; i-- > 0;) {
      if (!is_nan(x[i])) continue;
      ++nans;
      first_nan = i;
    }
    // `at` is still in its first order: the position is the index.
    if (nans > 0 && (!kSkipNan || nans == n)) return first_nan;
    // Of the numbers alone: NaNs are ordered behind them.
    const int64_t middle = (n - nans - 1) / 2;
    std::nth_element(at.begin(), at.begin() + middle, at.end(), Order<T>{x, false});
    return middle;
  }
};

// The median of all elements, in row-major order whatever the strides.
template <bool kSkipNan>
struct MedianOfAll final : Operator {
  Tensor self, out;
  DType slot = DType::kFloat;
  Rows row, single;

  void prepare() override {
    slot = real_slot(self.dtype);
    require(out.count() == 1, "out is {}; the median of all elements is one number", out);
    std::vector<size_t> axes(self.rank());
    std::iota(axes.begin(), axes.end(), size_t{0});
    row = Rows(self, axes, slot);
    single = Rows(out, std::span<const size_t>{}, slot);
  }
  void run() override {
    visit_real(slot, [this](auto t) { find(t); });
  }
  int64_t cost() const override { return 500 + 20 * row.length(); }

 private:
  template <class T>
  void find(T) const {
    std::vector<T> buffer(static_cast<size_t>(row.length()));
    std::vector<int64_t> at(buffer.size());
    std::iota(at.begin(), at.end(), 0);
    // The median of nothing: NaN, or the least integer, as in torch.
    T value = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::min();
    if (row.length() > 0) {
      const auto* x = static_cast<const T*>(row.load(0, buffer.data()));
      const int64_t middle = Median<kSkipNan>().pick(x, at);
      value = x[at[static_cast<size_t>(middle)]];
    }
    T* to = static_cast<T*>(single.target(0, &buffer));
    if (single.direct())
      *to = value;
    else
      single.store(0, &value);
  }
};

using MedianDim = Median<false>;
using NanMedianDim = Median<true>;
using MedianAll = MedianOfAll<false>;
using NanMedianAll = MedianOfAll<true>;

#define NPU_ORDER_FIELDS(type) \
  in<&type::self>("self"), attr<&type::dim>("dim"), out<&type::values>("values"), out<&type::indices>("indices")
NPU_OPERATOR(Sort, "sort", "reduce", in<&Sort::self>("self"), attr<&Sort::dim>("dim"),
             attr<&Sort::descending>("descending"), attr<&Sort::stable>("stable"),
             optional_out<&Sort::values>("values"), optional_out<&Sort::indices>("indices"))
    .is(kMovesBits);
NPU_OPERATOR(Topk, "topk", "reduce", NPU_ORDER_FIELDS(Topk), attr<&Topk::k>("k"), attr<&Topk::largest>("largest"),
             attr<&Topk::sorted>("sorted"))
    .is(kMovesBits);
NPU_OPERATOR(Kthvalue, "kthvalue", "reduce", NPU_ORDER_FIELDS(Kthvalue), attr<&Kthvalue::k>("k"),
             attr<&Kthvalue::keepdim>("keepdim"))
    .is(kMovesBits);
NPU_OPERATOR(MedianDim, "median_dim", "reduce", NPU_ORDER_FIELDS(MedianDim), attr<&MedianDim::keepdim>("keepdim"))
    .is(kMovesBits);
NPU_OPERATOR(NanMedianDim, "nanmedian_dim", "reduce", NPU_ORDER_FIELDS(NanMedianDim),
             attr<&NanMedianDim::keepdim>("keepdim"))
    .is(kMovesBits);
NPU_OPERATOR(MedianAll, "median", "reduce", in<&MedianAll::self>("self"), out<&MedianAll::out>("out")).is(kMovesBits);
NPU_OPERATOR(NanMedianAll, "nanmedian", "reduce", in<&NanMedianAll::self>("self"), out<&NanMedianAll::out>("out"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
