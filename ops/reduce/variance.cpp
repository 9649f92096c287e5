// SPDX-License-Identifier: Apache-2.0
// var, std and either with the mean, over dimensions: the sum of squared distances to the mean, divided by
// count - correction.
#include <cmath>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/reduction/reduction.h"

namespace npu::ops {
namespace {

struct Moments {
  double mean;
  double variance;
};

// Two passes in double: the second one does not cancel. Partial sums of 256 keep the error of long rows small.
template <class T>
Moments moments_of(const T* x, int64_t n, int64_t correction) {
  const auto sum = [&](auto&& term) {
    double total = 0;
    for (int64_t at = 0; at < n; at += 256) {
      double part = 0;
      for (int64_t i = at; i < std::min(at + 256, n); ++i) part += term(static_cast<double>(x[i]));
      total += part;
    }
    return total;
  };
  const double mean = sum([](double v) { return v; }) / static_cast<double>(n);
  const double squares = sum([mean](double v) { return (v - mean) * (v - mean); });
  // A correction as large as the count divides by 0: NaN or infinity, as torch gives.
  return {mean, squares / std::max(0.0, static_cast<double>(n - correction))};
}

template <bool kRoot>
struct Variance final : Operator {
  Tensor self, out, mean;
  std::vector<int64_t> dim;
  int64_t correction = 1;
  bool keepdim = false;
  bool invert = false;  ///< 1 / sqrt(variance + eps), the factor of a normalisation
  double eps = 0;
  DType slot = DType::kFloat;
  Rows rows;
  Rows outs, means;  ///< single elements, numbered as the rows

  void prepare() override {
    slot = slot_of(self.dtype);
    require(slot == DType::kFloat || slot == DType::kDouble, "self is {}; a variance needs a real floating dtype",
            self);
    const uint32_t bits = axis_bits(dim, self.rank());
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < self.rank(); ++axis) {
      if ((bits >> axis & 1u) != 0) axes.push_back(axis);
    }
    rows = Rows(self, axes, slot);
    outs = singles(out, "out", bits);
    means = singles(mean, "mean", bits);
  }
  void run() override {
    if (slot == DType::kDouble)
      compute<double>();
    else
      compute<float>();
  }
  int64_t cost() const override { return 200 + 2 * rows.count() * rows.length(); }

 private:
  Rows singles(const Tensor& to, const char* name, uint32_t bits) const {
    if (!to.defined()) return {};
    check_shape(to, name, reduced_shape(self.shape, bits, to.rank() == self.rank() && keepdim));
    return Rows(to, std::span<const size_t>{}, DType::kDouble);
  }
  template <class T>
  void compute() const {
    for_rows(rows, [this](int64_t begin, int64_t end) {
      std::vector<T> buffer(rows.direct() ? 0 : static_cast<size_t>(rows.length()));
      for (int64_t row = begin; row < end; ++row) {
        const Moments m = moments_of(static_cast<const T*>(rows.load(row, buffer.data())), rows.length(), correction);
        write(outs, row, result_of(m.variance));
        if (mean.defined()) write(means, row, m.mean);
      }
    });
  }
  double result_of(double variance) const {
    if (invert) return 1 / std::sqrt(variance + eps);
    return kRoot ? std::sqrt(variance) : variance;
  }
  static void write(const Rows& to, int64_t row, double value) {
    double place;
    auto* at = static_cast<double*>(to.target(row, &place));
    *at = value;
    to.store(row, at);
  }
};

using Var = Variance<false>;
using Std = Variance<true>;

#define NPU_VARIANCE_FIELDS(type)                                                          \
  in<&type::self>("self"), attr<&type::dim>("dim"), attr<&type::correction>("correction"), \
      attr<&type::keepdim>("keepdim"), out<&type::out>("out"), optional_out<&type::mean>("mean")
NPU_OPERATOR(Var, "var", "reduce", NPU_VARIANCE_FIELDS(Var));
NPU_OPERATOR(Std, "std", "reduce", NPU_VARIANCE_FIELDS(Std), attr<&Std::invert>("invert"), attr<&Std::eps>("eps"));

}  // namespace
}  // namespace npu::ops
