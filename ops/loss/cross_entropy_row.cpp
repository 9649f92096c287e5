// SPDX-License-Identifier: Apache-2.0
// One walk for loss and gradient: exponentials are kept, so the gradient costs no second e^x. Sums are row_sum's, in an
// order that the length decides.
#include "ops/loss/cross_entropy_row.h"

#include <cmath>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/loss/cross_entropy_row.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"
#include "ops/vector/reduction/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {  // templates of other files must not meet these

template <class T>
double dense_loss(const T* x, const T* labels, int64_t n, T top, double log_of_sum) {
  // Logarithms are taken one by one and not as x - lse · sum of labels, as labels need not add up to 1.
  const T whole = static_cast<T>(log_of_sum);
  return row_sum<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto log = hn::Sub(hn::Sub(load_lanes(d, x + i, count), hn::Set(d, top)), hn::Set(d, whole));
    return full_or_zero(d, hn::Neg(hn::Mul(load_lanes(d, labels + i, count), log)), count);
  });
}

template <class T>
void write_gradient(const CrossEntropyRow& row, double sum) {
  const T* e = static_cast<const T*>(row.exponentials);
  const T* labels = static_cast<const T*>(row.labels);
  T* gradient = static_cast<T*>(row.gradient);
  const T share = static_cast<T>(1 / sum);
  if (labels != nullptr) {
#pragma GCC ivdep
    for (int64_t i = 0; i < row.n; ++i) gradient[i] = e[i] * share - labels[i];
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < row.n; ++i) gradient[i] = e[i] * share;
  // From double: softmax near 1 minus 1 would keep few digits in float.
  gradient[row.label] = static_cast<T>((static_cast<double>(e[row.label]) - sum) / sum);
}

template <class T>
double cross_entropy(const CrossEntropyRow& row) {
  const T* x = static_cast<const T*>(row.x);
  T* e = static_cast<T*>(row.exponentials);
  const T top = row_max(x, row.n);
  const double sum = row_sum<T>(row.n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = exp_below_zero(d, hn::Sub(load_lanes(d, x + i, count), hn::Set(d, top)));
    store_lanes(v, d, e + i, count);
    return full_or_zero(d, v, count);
  });
  const double log_of_sum = std::log(sum);
  // The class's own distance from the top is taken first: where both are close it is exact.
  const double loss = row.labels != nullptr
                          ? dense_loss(x, static_cast<const T*>(row.labels), row.n, top, log_of_sum)
                          : log_of_sum - (static_cast<double>(x[row.label]) - static_cast<double>(top));
  if (row.gradient != nullptr) write_gradient<T>(row, sum);
  return loss;
}

CrossEntropyKernel kernel_for(DType slot) {
  return slot == DType::kDouble ? &cross_entropy<double> : &cross_entropy<float>;
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(kernel_for);
CrossEntropyKernel cross_entropy_kernel(DType slot) { return HWY_DYNAMIC_DISPATCH(kernel_for)(slot); }
}  // namespace npu::ops
#endif
