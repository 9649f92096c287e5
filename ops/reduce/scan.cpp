// SPDX-License-Identifier: Apache-2.0
// cumsum and cumprod along a dimension, from its start or (reverse) from its end, each with (exclusive: without) the
// element itself; and logsumexp over dimensions. Floats are accumulated in double.
#include <cmath>
#include <limits>

#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/reduction/reduction.h"

namespace npu::ops {
namespace {

template <bool kProduct>
struct Scan final : Operator {
  Tensor self, out;
  int64_t dim = 0;
  DType dtype = DType::kUndefined;
  bool exclusive = false, reverse = false;
  DType slot = DType::kFloat;
  Rows rows, target;

  void prepare() override {
    const size_t axis = wrap_dim(dim, self.rank());
    check_shape(out, "out", self.shape);
    // Elements are converted before they are added, as torch does for its dtype argument.
    slot = slot_of(dtype == DType::kUndefined ? out.dtype : dtype);
    // Counting true elements, as torch's cumsum of bools does.
    if (slot == DType::kBool) slot = DType::kInt64;
    require(slot != DType::kUndefined, "dtype {} cannot be accumulated; choose a number type", dtype);
    rows = Rows(self, axis, slot);
    target = Rows(out, axis, slot);
  }
  void run() override {
    switch (slot) {
      case DType::kFloat: return scan<float>();
      case DType::kDouble: return scan<double>();
      case DType::kInt64: return scan<int64_t>();
      case DType::kComplex64: return scan<Complex64>();
      default: return scan<Complex128>();
    }
  }
  int64_t cost() const override { return 200 + 2 * rows.count() * rows.length(); }

 private:
  template <class T>
  void scan() const {
    for_rows(rows, [this](int64_t begin, int64_t end) {
      std::vector<T> from(static_cast<size_t>(rows.length())), to(from.size());
      for (int64_t row = begin; row < end; ++row) {
        const auto* x = static_cast<const T*>(rows.load(row, from.data()));
        auto* y = static_cast<T*>(target.target(row, to.data()));
        // One thread walks a row from its start, so the sum at each place is that of all before it in their order; rows
        // are shared out, not parts of a row, whose sums would be joined in another order.
        Wide<T> total(kProduct ? 1 : 0);
        for (int64_t k = 0; k < rows.length(); ++k) {
          const int64_t i = reverse ? rows.length() - 1 - k : k;
          const Wide<T> v(x[i]);
          // Each place is rounded from the running total, which itself is never rounded to T.
          if (exclusive) y[i] = static_cast<T>(total);
          total = kProduct ? wrap_multiply(total, v) : wrap_add(total, v);
          if (!exclusive) y[i] = static_cast<T>(total);
        }
        target.store(row, y);
      }
    });
  }
};

// In double from the loaded element to the stored result, which is rounded once.
struct LogSumExp final : Operator {
  Tensor self, out;
  std::vector<int64_t> dim;
  bool keepdim = false;
  Rows rows, singles;

  void prepare() override {
    const uint32_t bits = axis_bits(dim, self.rank());
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < self.rank(); ++axis) {
      if ((bits >> axis & 1u) != 0) axes.push_back(axis);
    }
    require(!is_complex(self.dtype), "self is {}; logsumexp needs a real dtype", self);
    check_shape(out, "out", reduced_shape(self.shape, bits, keepdim));
    rows = Rows(self, axes, DType::kDouble);
    // No axis in a row: single elements, numbered as the rows of self.
    singles = Rows(out, std::span<const size_t>{}, DType::kDouble);
  }
  void run() override {
    for_rows(rows, [this](int64_t begin, int64_t end) {
      std::vector<double> buffer(static_cast<size_t>(rows.length()));
      for (int64_t row = begin; row < end; ++row) {
        double place;
        auto* to = static_cast<double*>(singles.target(row, &place));
        *to = of_row(static_cast<const double*>(rows.load(row, buffer.data())));
        singles.store(row, to);
      }
    });
  }
  int64_t cost() const override { return 200 + 10 * rows.count() * rows.length(); }

 private:
  // The largest element is taken out before exp: what remains is at most 1 and cannot overflow.
  double of_row(const double* x) const {
    double largest = -std::numeric_limits<double>::infinity();
    // A NaN is taken as the largest, and stays: nothing is larger.
    for (int64_t i = 0; i < rows.length(); ++i) largest = x[i] > largest || is_nan(x[i]) ? x[i] : largest;
    const double shift = std::isinf(largest) ? 0 : largest;  // inf - inf would be NaN
    double total = 0;
    for (int64_t i = 0; i < rows.length(); ++i) total += std::exp(x[i] - shift);
    return std::log(total) + shift;
  }
};

using CumSum = Scan<false>;
using CumProd = Scan<true>;

#define NPU_SCAN_FIELDS(type)                                                                                         \
  in<&type::self>("self"), attr<&type::dim>("dim"), attr<&type::dtype>("dtype"), attr<&type::exclusive>("exclusive"), \
      attr<&type::reverse>("reverse"), out<&type::out>("out")
NPU_OPERATOR(CumSum, "cumsum", "reduce", NPU_SCAN_FIELDS(CumSum));
NPU_OPERATOR(CumProd, "cumprod", "reduce", NPU_SCAN_FIELDS(CumProd));
NPU_OPERATOR(LogSumExp, "logsumexp", "reduce", in<&LogSumExp::self>("self"), attr<&LogSumExp::dim>("dim"),
             attr<&LogSumExp::keepdim>("keepdim"), out<&LogSumExp::out>("out"));

}  // namespace
}  // namespace npu::ops
