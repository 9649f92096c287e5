// SPDX-License-Identifier: Apache-2.0
// Down the window first: the rows of a window are added into one line, which all outputs of a row share, and only that
// line is added up along the windows. Each sum has an order that the window decides, not the number of threads.
#include "ops/pooling/box_kernel.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pooling/box_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE void set_run(T* to, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = value;
}

template <class T>
HWY_INLINE void add_run(const T* from, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

template <class T>
HWY_INLINE void add_number(T value, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] += value;
}

// Rows of planes and the dense line meet here: in one run where the plane's pixels are dense too.
template <class F>
HWY_INLINE void each_pixel(int64_t width, int64_t lanes, int64_t pixel, F&& body) {
  if (pixel == lanes) return body(int64_t{0}, int64_t{0}, width * lanes);
  for (int64_t x = 0; x < width; ++x) body(x * pixel, x * lanes, lanes);
}

template <class F>
HWY_INLINE void each_window_row(const BoxPart& part, int64_t oz, int64_t oy, F&& body) {
  const auto& [z, y, x] = *part.window;
  for (int64_t j = 0; j < z.count[oz]; ++j) {
    for (int64_t i = 0; i < y.count[oy]; ++i) {
      body((z.first[oz] + j) * part.in.slice + (y.first[oy] + i) * part.in.row);
    }
  }
}

template <class T>
HWY_INLINE T divisor(const BoxPart& part, int64_t oz, int64_t oy, int64_t ox) {
  const auto& [z, y, x] = *part.window;
  return static_cast<T>(part.divisor != 0 ? part.divisor : z.covered[oz] * y.covered[oy] * x.covered[ox]);
}

// Sum of n numbers in four chains: long windows do not wait for each addition.
template <class T>
HWY_INLINE T sum_run(const T* from, int64_t n) {
  T s[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) s[k] += from[i + k];
  }
  for (; i < n; ++i) s[0] += from[i];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

template <class T>
HWY_INLINE void sum_line(const BoxPart& part, int64_t oz, int64_t oy, const T* line, T* out) {
  const PoolAxis& x = (*part.window)[2];
  const int64_t lanes = part.lanes;
  for (int64_t o = 0; o < x.out; ++o) {
    T* to = out + o * part.out.pixel;
    const T* from = line + x.first[o] * lanes;
    const T d = divisor<T>(part, oz, oy, o);
    // Without lanes a window's elements are neighbours, with lanes the channels are: either way the inner loop follows
    // memory.
    if (lanes == 1) {
      const T sum = sum_run(from, x.count[o]);
      *to = x.count[o] > 0 ? sum / d : T(0);
      continue;
    }
    set_run(to, T(0), lanes);
    for (int64_t j = 0; j < x.count[o]; ++j) add_run(from + j * lanes, to, lanes);
    if (x.count[o] == 0) continue;
    // Divided and not multiplied by the inverse, which would round once more.
    for (int64_t l = 0; l < lanes; ++l) to[l] /= d;
  }
}

template <class T>
void box_sum(const BoxPart& part) {
  const auto& [z, y, x] = *part.window;
  T* line = static_cast<T*>(part.line);
  for (int64_t oz = 0; oz < z.out; ++oz) {
    // The line is cleared for each row of outputs: windows of neighbouring rows may overlap.
    for (int64_t oy = 0; oy < y.out; ++oy) {
      set_run(line, T(0), x.in * part.lanes);
      each_window_row(part, oz, oy, [&](int64_t row) HWY_ATTR {
        const T* in = static_cast<const T*>(part.in.data) + row;
        each_pixel(x.in, part.lanes, part.in.pixel,
                   [&](int64_t at, int64_t to, int64_t n) HWY_ATTR { add_run(in + at, line + to, n); });
      });
      T* out = static_cast<T*>(part.out.data) + oz * part.out.slice + oy * part.out.row;
      sum_line(part, oz, oy, line, out);
    }
  }
}

template <class T>
HWY_INLINE void spread_line(const BoxPart& part, int64_t oz, int64_t oy, const T* out, T* line) {
  const PoolAxis& x = (*part.window)[2];
  const int64_t lanes = part.lanes;
  for (int64_t o = 0; o < x.out; ++o) {
    const T* g = out + o * part.out.pixel;
    T* to = line + x.first[o] * lanes;
    const T d = divisor<T>(part, oz, oy, o);
    if (lanes == 1) {
      add_number(*g / d, to, x.count[o]);
      continue;
    }
    for (int64_t j = 0; j < x.count[o]; ++j) {
      for (int64_t l = 0; l < lanes; ++l) to[j * lanes + l] += g[l] / d;
    }
  }
}

template <class T>
void box_spread(const BoxPart& part) {
  const auto& [z, y, x] = *part.window;
  T* in = static_cast<T*>(part.in.data);
  T* line = static_cast<T*>(part.line);
  // Windows may overlap or leave elements out: all are cleared before any is added to.
  for (int64_t row = 0; row < z.in * y.in; ++row) {
    T* to = in + row / y.in * part.in.slice + row % y.in * part.in.row;
    each_pixel(x.in, part.lanes, part.in.pixel,
               [&](int64_t at, int64_t, int64_t n) HWY_ATTR { set_run(to + at, T(0), n); });
  }
  for (int64_t oz = 0; oz < z.out; ++oz) {
    for (int64_t oy = 0; oy < y.out; ++oy) {
      set_run(line, T(0), x.in * part.lanes);
      const T* out = static_cast<const T*>(part.out.data) + oz * part.out.slice + oy * part.out.row;
      spread_line(part, oz, oy, out, line);
      each_window_row(part, oz, oy, [&](int64_t row) HWY_ATTR {
        T* to = in + row;
        each_pixel(x.in, part.lanes, part.in.pixel,
                   [&](int64_t at, int64_t from, int64_t n) HWY_ATTR { add_run(line + from, to + at, n); });
      });
    }
  }
}

template <class T>
constexpr BoxKernel kKernel = {&box_sum<T>, &box_spread<T>};

const BoxKernel* box_kernel_for(DType slot) { return slot == DType::kDouble ? &kKernel<double> : &kKernel<float>; }

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(box_kernel_for);
const BoxKernel& box_kernel(DType slot) { return *HWY_DYNAMIC_DISPATCH(box_kernel_for)(slot); }
}  // namespace npu::ops
#endif
