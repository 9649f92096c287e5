// SPDX-License-Identifier: Apache-2.0
// The matrices of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), §4.1: all but the
// filter's have only 0, 1 and -1. Gradients take them transposed.
#include "ops/conv/winograd_kernel.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/winograd_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// One dimension of each way.
struct Spread {  // of the images
  HWY_INLINE void operator()(const V (&x)[4], V (&y)[4]) const {
    y[0] = hn::Sub(x[0], x[2]), y[1] = hn::Add(x[1], x[2]), y[2] = hn::Sub(x[2], x[1]), y[3] = hn::Sub(x[1], x[3]);
  }
};
struct Gather {  // of the result
  HWY_INLINE void operator()(const V (&x)[4], V (&y)[2]) const {
    y[0] = hn::Add(hn::Add(x[0], x[1]), x[2]), y[1] = hn::Sub(hn::Sub(x[1], x[2]), x[3]);
  }
};
struct GatherTurned {
  HWY_INLINE void operator()(const V (&x)[2], V (&y)[4]) const {
    y[0] = x[0], y[1] = hn::Add(x[0], x[1]), y[2] = hn::Sub(x[0], x[1]), y[3] = hn::Neg(x[1]);
  }
};
struct Filter {
  HWY_INLINE void operator()(const V (&x)[3], V (&y)[4]) const {
    const V half = hn::Set(D(), 0.5f), ends = hn::Mul(hn::Add(x[0], x[2]), half), middle = hn::Mul(x[1], half);
    y[0] = x[0], y[1] = hn::Add(ends, middle), y[2] = hn::Sub(ends, middle), y[3] = x[2];
  }
};
struct FilterTurned {
  HWY_INLINE void operator()(const V (&x)[4], V (&y)[3]) const {
    const V half = hn::Set(D(), 0.5f), both = hn::Mul(hn::Add(x[1], x[2]), half);
    y[0] = hn::Add(x[0], both), y[1] = hn::Mul(hn::Sub(x[1], x[2]), half), y[2] = hn::Add(both, x[3]);
  }
};

/// Both dimensions: lines, then columns.
template <class F, int kFrom, int kTo>
HWY_INLINE void both_ways(const V (&x)[kFrom][kFrom], V (&y)[kTo][kTo]) {
  V lines[kFrom][kTo];
#pragma GCC unroll 4
  for (int i = 0; i < kFrom; ++i) F()(x[i], lines[i]);
#pragma GCC unroll 4
  for (int j = 0; j < kTo; ++j) {
    V from[kFrom], to[kTo];
#pragma GCC unroll 4
    for (int i = 0; i < kFrom; ++i) from[i] = lines[i][j];
    F()(from, to);
#pragma GCC unroll 4
    for (int i = 0; i < kTo; ++i) y[i][j] = to[i];
  }
}

/// Both dimensions of all channels, a vector at a time: from from(i, j) to to(i, j), each with the channel behind it.
/// `finish` sees the last numbers before they are stored.
template <class F, int kFrom, int kTo, class From, class To, class Finish>
HWY_INLINE void transform(int64_t channels, From from, To to, Finish finish) {
  for (int64_t c = 0; c < channels; c += static_cast<int64_t>(hn::Lanes(D()))) {
    V x[kFrom][kFrom], y[kTo][kTo];
#pragma GCC unroll 4
    for (int i = 0; i < kFrom; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kFrom; ++j) x[i][j] = hn::LoadU(D(), from(i, j) + c);
    }
    both_ways<F>(x, y);
#pragma GCC unroll 4
    for (int i = 0; i < kTo; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kTo; ++j) hn::StoreU(finish(y[i][j], c), D(), to(i, j) + c);
    }
  }
}
template <class F, int kFrom, int kTo, class From, class To>
HWY_INLINE void transform(int64_t channels, From from, To to) {
  transform<F, kFrom, kTo>(channels, from, to, [](V y, int64_t) HWY_ATTR { return y; });
}

/// A square of `kSide` numbers, `step` apart.
template <int kSide, class T>
auto square(T* first, int64_t step) {
  return [=](int i, int j) HWY_ATTR { return first + (kSide * i + j) * step; };
}
template <int kSide, class T>
auto square(T* const* first) {
  return [=](int i, int j) HWY_ATTR { return first[kSide * i + j]; };
}

void input(const float* tile, int64_t line, int64_t pixel, int64_t channels, const WinogradPoints& points) {
  transform<Spread, 4, 4>(
      channels, [=](int i, int j) HWY_ATTR { return tile + i * line + j * pixel; }, square<4>(points.to, points.step));
}

void input_at(const float* const* pixel, int64_t channels, const WinogradPoints& points) {
  transform<Spread, 4, 4>(channels, square<4>(pixel), square<4>(points.to, points.step));
}

void gradient(const float* const* pixel, int64_t channels, const WinogradPoints& points) {
  transform<GatherTurned, 2, 4>(channels, square<2>(pixel), square<4>(points.to, points.step));
}

void output(const float* from, int64_t step, int64_t channels, const float* bias, float* const* pixel) {
  if (bias == nullptr) return transform<Gather, 4, 2>(channels, square<4>(from, step), square<2>(pixel));
  transform<Gather, 4, 2>(channels, square<4>(from, step), square<2>(pixel),
                          [=](V y, int64_t c) HWY_ATTR { return hn::Add(y, hn::LoadU(D(), bias + c)); });
}

void filter(const float* taps, int64_t tap, int64_t count, const WinogradPoints& points) {
  transform<Filter, 3, 4>(count, square<3>(taps, tap), square<4>(points.to, points.step));
}

void taps(const float* from, int64_t step, int64_t count, float* to, int64_t tap) {
  transform<FilterTurned, 4, 3>(count, square<4>(from, step), square<3>(to, tap));
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(input);
HWY_EXPORT(input_at);
HWY_EXPORT(output);
HWY_EXPORT(gradient);
HWY_EXPORT(filter);
HWY_EXPORT(taps);

void winograd_input(const float* tile, int64_t line, int64_t pixel, int64_t channels, const WinogradPoints& points) {
  HWY_DYNAMIC_DISPATCH(input)(tile, line, pixel, channels, points);
}

void winograd_input(const float* const* pixel, int64_t channels, const WinogradPoints& points) {
  HWY_DYNAMIC_DISPATCH(input_at)(pixel, channels, points);
}

void winograd_output(const float* from, int64_t step, int64_t channels, const float* bias, float* const* pixel) {
  HWY_DYNAMIC_DISPATCH(output)(from, step, channels, bias, pixel);
}

void winograd_gradient(const float* const* pixel, int64_t channels, const WinogradPoints& points) {
  HWY_DYNAMIC_DISPATCH(gradient)(pixel, channels, points);
}

void winograd_filter(const float* from, int64_t tap, int64_t count, const WinogradPoints& points) {
  HWY_DYNAMIC_DISPATCH(filter)(from, tap, count, points);
}

void winograd_taps(const float* from, int64_t step, int64_t count, float* to, int64_t tap) {
  HWY_DYNAMIC_DISPATCH(taps)(from, step, count, to, tap);
}

}  // namespace npu::ops
#endif
