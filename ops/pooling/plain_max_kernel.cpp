// SPDX-License-Identifier: Apache-2.0
#include "ops/pooling/plain_max_kernel.h"

#include <algorithm>
#include <limits>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pooling/plain_max_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE void copy_run(const T* from, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

// A NaN compares false, so it is asked for by name and then stays: no number is greater.
template <class T>
HWY_INLINE void max_run(const T* from, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] > to[i] || from[i] != from[i] ? from[i] : to[i];
}

template <class T>
HWY_INLINE void max_or_copy(bool first, const T* from, T* to, int64_t n) {
  first ? copy_run(from, to, n) : max_run(from, to, n);
}

/// The maxima of the window's rows; false where the window has no row.
template <class T>
HWY_INLINE bool take_rows(const PlainMaxPart& part, int64_t oz, int64_t oy, T* line) {
  const auto& [z, y, x] = *part.window;
  bool first = true;
  for (int64_t j = 0; j < z.count[oz]; ++j) {
    for (int64_t i = 0; i < y.count[oy]; ++i, first = false) {
      const T* in = static_cast<const T*>(part.in.data) + (z.first[oz] + j * z.dilation) * part.in.slice +
                    (y.first[oy] + i * y.dilation) * part.in.row;
      if (part.in.pixel == part.lanes) {
        max_or_copy(first, in, line, x.in * part.lanes);
        continue;
      }
      for (int64_t p = 0; p < x.in; ++p) max_or_copy(first, in + p * part.in.pixel, line + p * part.lanes, part.lanes);
    }
  }
  return !first;
}

template <class T>
HWY_INLINE void take_line(const PlainMaxPart& part, const T* line, T* best) {
  const PoolAxis& x = (*part.window)[2];
  for (int64_t o = 0; o < x.out; ++o, best += part.best.pixel) {
    const T* from = line + x.first[o] * part.lanes;
    if (x.count[o] == 0) std::fill_n(best, part.lanes, -std::numeric_limits<T>::infinity());
    for (int64_t j = 0; j < x.count[o]; ++j) max_or_copy(j == 0, from + j * x.dilation * part.lanes, best, part.lanes);
  }
}

template <class T>
void plain_max(const PlainMaxPart& part) {
  const auto& [z, y, x] = *part.window;
  T* line = static_cast<T*>(part.line);
  for (int64_t row = part.begin; row < part.end; ++row) {
    const int64_t oz = row / y.out, oy = row % y.out;
    if (!take_rows(part, oz, oy, line)) std::fill_n(line, x.in * part.lanes, -std::numeric_limits<T>::infinity());
    take_line(part, line, static_cast<T*>(part.best.data) + oz * part.best.slice + oy * part.best.row);
  }
}

PlainMaxKernel plain_max_for(DType slot) { return slot == DType::kDouble ? &plain_max<double> : &plain_max<float>; }

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(plain_max_for);
PlainMaxKernel plain_max_kernel(DType slot) { return HWY_DYNAMIC_DISPATCH(plain_max_for)(slot); }
}  // namespace npu::ops
#endif
