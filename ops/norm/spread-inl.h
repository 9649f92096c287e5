// SPDX-License-Identifier: Apache-2.0
// Mean and spread of a row, as layer norm and batch norm take them. The guard lets each
// instruction set include the file once.
#if defined(NPU_OPS_NORM_SPREAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPU_OPS_NORM_SPREAD_INL_H_
#undef NPU_OPS_NORM_SPREAD_INL_H_
#else
#define NPU_OPS_NORM_SPREAD_INL_H_
#endif

#include "ops/vector/reduction/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

struct RowSpread {
  double mean;
  double squares;  ///< sum of squared differences to the mean as T rounds it
  double moved;    ///< what that rounding moved the mean by: squares - moved² * n are the differences to `mean`
};

template <class T>
HWY_INLINE RowSpread row_spread(const T* x, int64_t n) {
  // Summing differences to one element keeps equal elements exact: their deviation is 0, not a rounding error that
  // 1 / sqrt(eps) would magnify.
  const T base = x[0];
  const double mean = static_cast<double>(base) +
                      row_sum<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
                        return full_or_zero(d, hn::Sub(load_lanes(d, x + i, count), hn::Set(d, base)), count);
                      }) / static_cast<double>(n);
  // Rounded to T so that the second pass stays in vectors of T; the caller takes off what the rounding adds.
  const T center = static_cast<T>(mean);
  const double squares = row_sum<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = hn::Sub(load_lanes(d, x + i, count), hn::Set(d, center));
    return full_or_zero(d, hn::Mul(v, v), count);
  });
  return {mean, squares, mean - static_cast<double>(center)};
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
