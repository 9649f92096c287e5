// SPDX-License-Identifier: Apache-2.0
// The matrices of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), §4.1: all but the
// filter's have only 0, 1 and -1.
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

template <class V>
struct Four {
  V a, b, c, d;
};

/// One dimension of the way there.
template <class V>
HWY_INLINE Four<V> spread(const Four<V>& x) {
  return {hn::Sub(x.a, x.c), hn::Add(x.b, x.c), hn::Sub(x.c, x.b), hn::Sub(x.b, x.d)};
}

template <class D>
HWY_INLINE Four<hn::Vec<D>> load(D d, const float* from, int64_t step) {
  return {hn::LoadU(d, from), hn::LoadU(d, from + step), hn::LoadU(d, from + 2 * step), hn::LoadU(d, from + 3 * step)};
}

template <class D>
HWY_INLINE void store(D d, const Four<hn::Vec<D>>& x, float* to, int64_t step) {
  hn::StoreU(x.a, d, to), hn::StoreU(x.b, d, to + step);
  hn::StoreU(x.c, d, to + 2 * step), hn::StoreU(x.d, d, to + 3 * step);
}

void input(const float* tile, int64_t line, int64_t channels, float* to, int64_t stride) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes, tile += lanes, to += lanes) {
    const auto r0 = spread(load(d, tile, channels)), r1 = spread(load(d, tile + line, channels));
    const auto r2 = spread(load(d, tile + 2 * line, channels)), r3 = spread(load(d, tile + 3 * line, channels));
    // Rows are spread as columns were: points of one column lie four apart.
    store(d, spread(Four{r0.a, r1.a, r2.a, r3.a}), to, 4 * stride);
    store(d, spread(Four{r0.b, r1.b, r2.b, r3.b}), to + stride, 4 * stride);
    store(d, spread(Four{r0.c, r1.c, r2.c, r3.c}), to + 2 * stride, 4 * stride);
    store(d, spread(Four{r0.d, r1.d, r2.d, r3.d}), to + 3 * stride, 4 * stride);
  }
}

/// One dimension of the way back: two of four.
template <class V>
HWY_INLINE V first(const Four<V>& x) {
  return hn::Add(hn::Add(x.a, x.b), x.c);
}
template <class V>
HWY_INLINE V second(const Four<V>& x) {
  return hn::Sub(hn::Sub(x.b, x.c), x.d);
}

void output(const float* from, int64_t stride, int64_t channels, const float* bias, float* const* pixel) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes, from += lanes) {
    const auto r0 = load(d, from, stride), r1 = load(d, from + 4 * stride, stride);
    const auto r2 = load(d, from + 8 * stride, stride), r3 = load(d, from + 12 * stride, stride);
    const Four c0{r0.a, r1.a, r2.a, r3.a}, c1{r0.b, r1.b, r2.b, r3.b};
    const Four c2{r0.c, r1.c, r2.c, r3.c}, c3{r0.d, r1.d, r2.d, r3.d};
    const Four top{first(c0), first(c1), first(c2), first(c3)};
    const Four low{second(c0), second(c1), second(c2), second(c3)};
    const auto more = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + c);
    hn::StoreU(hn::Add(first(top), more), d, pixel[0] + c);
    hn::StoreU(hn::Add(second(top), more), d, pixel[1] + c);
    hn::StoreU(hn::Add(first(low), more), d, pixel[2] + c);
    hn::StoreU(hn::Add(second(low), more), d, pixel[3] + c);
  }
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(input);
HWY_EXPORT(output);

void winograd_input(const float* tile, int64_t line, int64_t channels, float* to, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(input)(tile, line, channels, to, stride);
}

void winograd_output(const float* from, int64_t stride, int64_t channels, const float* bias, float* const* pixel) {
  HWY_DYNAMIC_DISPATCH(output)(from, stride, channels, bias, pixel);
}

void winograd_filter(const float* filter, float* points) {
  float rows[4][3];
  for (int x = 0; x < 3; ++x) {
    const float a = filter[x], b = filter[3 + x], c = filter[6 + x];
    rows[0][x] = a, rows[1][x] = (a + b + c) / 2, rows[2][x] = (a - b + c) / 2, rows[3][x] = c;
  }
  for (int y = 0; y < 4; ++y, points += 4) {
    const float a = rows[y][0], b = rows[y][1], c = rows[y][2];
    points[0] = a, points[1] = (a + b + c) / 2, points[2] = (a - b + c) / 2, points[3] = c;
  }
}

}  // namespace npu::ops
#endif
