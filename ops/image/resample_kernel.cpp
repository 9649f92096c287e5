// SPDX-License-Identifier: Apache-2.0
// Down the image first: the rows of a tap are summed into one line, whose neighbours lie side by side, and only that
// line is resized along its width. Sums have the order of the tables, so bits do not depend on the number of threads.
#include "ops/image/resample_kernel.h"

#include <algorithm>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/resample_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

template <class T>
const T* weights(const ResampleAxis& axis) {
  if constexpr (sizeof(T) == 4)
    return axis.weight32.data();
  else
    return axis.weight.data();
}

template <class T>
HWY_INLINE void scale_run(const T* from, T weight, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] * weight;
}

template <class T>
HWY_INLINE void add_run(const T* from, T weight, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] += from[i] * weight;
}

// Pixels of a plane meet those of a dense line: in one run where the plane is dense too.
template <class F>
HWY_INLINE void each_pixel(int64_t width, int64_t lanes, int64_t pixel, F&& body) {
  if (pixel == lanes) return body(int64_t{0}, int64_t{0}, width * lanes);
  for (int64_t x = 0; x < width; ++x) body(x * pixel, x * lanes, lanes);
}

// Calls body(row of the input, weight) for the rows that make row (oz, oy) of the output.
template <class T, class F>
HWY_INLINE void each_row(const ResamplePart& part, int64_t oz, int64_t oy, F&& body) {
  const auto& [z, y, x] = *part.axes;
  for (int64_t j = oz * z.taps; j < (oz + 1) * z.taps; ++j) {
    for (int64_t i = oy * y.taps; i < (oy + 1) * y.taps; ++i) {
      body(static_cast<T*>(part.small.data) + z.index[j] * part.small.slice + y.index[i] * part.small.row,
           weights<T>(z)[j] * weights<T>(y)[i]);
    }
  }
}

// The input's rows of one output row, summed; without a copy where it is one row as it is.
template <class T>
HWY_INLINE const T* gather_line(const ResamplePart& part, int64_t oz, int64_t oy) {
  const auto& [z, y, x] = *part.axes;
  T* line = static_cast<T*>(part.line);
  // One row as it is, of weight 1: the line is read where it lies.
  if (z.taps == 1 && y.taps == 1 && part.small.pixel == part.lanes) {
    return static_cast<T*>(part.small.data) + z.index[oz] * part.small.slice + y.index[oy] * part.small.row;
  }
  // The first row overwrites: no pass that clears the line, and no 0 that turns -0 into 0.
  bool first = true;
  each_row<T>(part, oz, oy, [&](const T* row, T weight) HWY_ATTR {
    each_pixel(x.in, part.lanes, part.small.pixel, [&](int64_t at, int64_t to, int64_t n) HWY_ATTR {
      first ? scale_run(row + at, weight, line + to, n) : add_run(row + at, weight, line + to, n);
    });
    first = false;
  });
  return line;
}

// kTaps is known at compile time for the common modes, so that their inner loop is unrolled.
template <int kTaps, class T>
HWY_INLINE void resize_line(const ResampleAxis& x, const T* line, T* out, int64_t pixel) {
  const int64_t taps = kTaps > 0 ? kTaps : x.taps;
  const int64_t* index = x.index.data();
  const T* weight = weights<T>(x);
  for (int64_t o = 0; o < x.out; ++o, index += taps, weight += taps) {
    T sum = line[index[0]] * weight[0];
    for (int64_t k = 1; k < taps; ++k) sum += line[index[k]] * weight[k];
    out[o * pixel] = sum;
  }
}

template <class T>
HWY_INLINE void resize_lanes(const ResamplePart& part, const T* line, T* out) {
  const ResampleAxis& x = (*part.axes)[2];
  const T* weight = weights<T>(x);
  for (int64_t o = 0; o < x.out; ++o, out += part.large.pixel) {
    scale_run(line + x.index[o * x.taps] * part.lanes, weight[o * x.taps], out, part.lanes);
    for (int64_t k = o * x.taps + 1; k < (o + 1) * x.taps; ++k) {
      add_run(line + x.index[k] * part.lanes, weight[k], out, part.lanes);
    }
  }
}

template <class T>
void resize(const ResamplePart& part) {
  const auto& [z, y, x] = *part.axes;
  for (int64_t oz = 0; oz < z.out; ++oz) {
    for (int64_t oy = 0; oy < y.out; ++oy) {
      const T* line = gather_line<T>(part, oz, oy);
      T* out = static_cast<T*>(part.large.data) + oz * part.large.slice + oy * part.large.row;
      // Lanes are channels side by side: a tap is then a whole vector, and needs no gathering.
      if (part.lanes > 1)
        resize_lanes(part, line, out);
      else if (x.taps == 1)
        resize_line<1>(x, line, out, part.large.pixel);
      else if (x.taps == 2)
        resize_line<2>(x, line, out, part.large.pixel);
      else
        resize_line<0>(x, line, out, part.large.pixel);
    }
  }
}

template <class T>
HWY_INLINE void spread_line(const ResamplePart& part, const T* out, T* line) {
  const ResampleAxis& x = (*part.axes)[2];
  const T* weight = weights<T>(x);
  std::fill_n(line, x.in * part.lanes, T(0));
  for (int64_t o = 0; o < x.out; ++o, out += part.large.pixel) {
    for (int64_t k = o * x.taps; k < (o + 1) * x.taps; ++k) {
      if (part.lanes == 1)
        line[x.index[k]] += *out * weight[k];
      else
        add_run(out, weight[k], line + x.index[k] * part.lanes, part.lanes);
    }
  }
}

template <class T>
void spread(const ResamplePart& part) {
  const auto& [z, y, x] = *part.axes;
  T* line = static_cast<T*>(part.line);
  // Rows of several outputs meet in one input row, so all are cleared before any is added to.
  for (int64_t row = 0; row < z.in * y.in; ++row) {
    T* to = static_cast<T*>(part.small.data) + row / y.in * part.small.slice + row % y.in * part.small.row;
    each_pixel(x.in, part.lanes, part.small.pixel,
               [&](int64_t at, int64_t, int64_t n) { std::fill_n(to + at, n, T(0)); });
  }
  for (int64_t oz = 0; oz < z.out; ++oz) {
    for (int64_t oy = 0; oy < y.out; ++oy) {
      // The steps of resize in reverse order: along the line, then over the rows that made it.
      spread_line(part, static_cast<const T*>(part.large.data) + oz * part.large.slice + oy * part.large.row, line);
      each_row<T>(part, oz, oy, [&](T* row, T weight) HWY_ATTR {
        each_pixel(x.in, part.lanes, part.small.pixel,
                   [&](int64_t at, int64_t from, int64_t n) HWY_ATTR { add_run(line + from, weight, row + at, n); });
      });
    }
  }
}

template <class T>
constexpr ResampleKernel kKernel = {&resize<T>, &spread<T>};

const ResampleKernel* resample_kernel_for(DType slot) {
  return slot == DType::kDouble ? &kKernel<double> : &kKernel<float>;
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(resample_kernel_for);
const ResampleKernel& resample_kernel(DType slot) { return *HWY_DYNAMIC_DISPATCH(resample_kernel_for)(slot); }
}  // namespace npu::ops
#endif
