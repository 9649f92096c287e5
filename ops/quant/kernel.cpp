// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/kernel.h"

#include <algorithm>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/quant/kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"
#include "ops/vector/reduction/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

template <class D>
HWY_INLINE hn::Vec<D> factor_at(D d, Factor f, int64_t i, int64_t count) {
  return f.each ? load_lanes(d, f.data + i, count) : hn::Set(d, *f.data);
}

template <class D>
HWY_INLINE hn::Vec<D> sum_with(D d, hn::Vec<D> v, Factor addend, int64_t i, int64_t count) {
  return addend.given() ? hn::Add(v, factor_at(d, addend, i, count)) : v;
}

void scale(const float* x, Factor factor, Factor addend, float* out, int64_t n) {
  row_each<float>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    auto v = load_lanes(d, x + i, count);
    if (factor.given()) v = hn::Mul(v, factor_at(d, factor, i, count));
    store_lanes(sum_with(d, v, addend, i, count), d, out + i, count);
  });
}

void divide(const float* x, Factor divisor, Factor addend, float* out, int64_t n) {
  row_each<float>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = hn::Div(load_lanes(d, x + i, count), factor_at(d, divisor, i, count));
    store_lanes(sum_with(d, v, addend, i, count), d, out + i, count);
  });
}

template <class F>
HWY_INLINE void each_in_range(float* x, float low, float high, int64_t n, F&& whole) {
  row_each<float>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = load_lanes(d, x + i, count);
    const auto number = hn::IfThenElseZero(hn::Eq(v, v), whole(v));
    store_lanes(hn::Min(hn::Max(number, hn::Set(d, low)), hn::Set(d, high)), d, x + i, count);
  });
}

void round(float* x, Rounding rounding, float low, float high, int64_t n) {
  switch (rounding) {
    case Rounding::kNearest: return each_in_range(x, low, high, n, [](auto v) HWY_ATTR { return hn::Round(v); });
    case Rounding::kDown: return each_in_range(x, low, high, n, [](auto v) HWY_ATTR { return hn::Floor(v); });
    case Rounding::kUp: return each_in_range(x, low, high, n, [](auto v) HWY_ATTR { return hn::Ceil(v); });
    case Rounding::kZero: return each_in_range(x, low, high, n, [](auto v) HWY_ATTR { return hn::Trunc(v); });
  }
}

// Lanes behind the end repeat the start value, which changes no extreme.
template <class F>
HWY_INLINE auto each_extreme(const float* x, int64_t n, float start, F&& step) {
  const RowTag<float> d;
  auto best = hn::Set(d, start);
  row_each<float>(n, [&](auto, int64_t i, int64_t count) HWY_ATTR {
    const auto v = load_lanes(d, x + i, count);
    const auto real = hn::And(hn::FirstN(d, static_cast<size_t>(count)), hn::Eq(v, v));
    best = step(hn::IfThenElse(real, v, best), best);
  });
  return best;
}

float largest(const float* x, int64_t n) {
  const RowTag<float> d;
  const auto best = each_extreme(x, n, 0.0f, [](auto v, auto old) HWY_ATTR { return hn::Max(hn::Abs(v), old); });
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

std::pair<float, float> extremes(const float* x, int64_t n) {
  const RowTag<float> d;
  const float infinity = std::numeric_limits<float>::infinity();
  const auto low = each_extreme(x, n, infinity, [](auto v, auto old) HWY_ATTR { return hn::Min(v, old); });
  const auto high = each_extreme(x, n, -infinity, [](auto v, auto old) HWY_ATTR { return hn::Max(v, old); });
  return {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
}

void gate(const float* g, const float* linear, const GateForm& form, float* out, int64_t n) {
  const float high = form.limit == 0 ? std::numeric_limits<float>::infinity() : form.limit;
  const float alpha = form.alpha, bias = form.bias;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float open = g[i] > high ? high : g[i];
    const float value = linear[i] > high ? high : linear[i] < -high ? -high : linear[i];
    out[i] = open * sigmoid_of(alpha * open) * (value + bias);
  }
}

}  // namespace

const QuantKernel* quant_kernels() {
  static constexpr QuantKernel kKernel{&scale, &divide, &round, &largest, &extremes, &gate};
  return &kKernel;
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(quant_kernels);
const QuantKernel& quant_kernel() { return *HWY_DYNAMIC_DISPATCH(quant_kernels)(); }
}  // namespace npu::ops
#endif
