// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/metric/sums.h"

#include <algorithm>
#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/compare/metric/sums.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "hwy/contrib/math/math-inl.h"

#ifndef NPU_COMPARE_METRIC_ONCE_
#define NPU_COMPARE_METRIC_ONCE_
namespace npu::compare {

/// Smaller values of y count as zero: the distance from 1 to the next double, as the formulas have it.
inline constexpr float kZero = 2.220446049250313e-16f;
/// Scaled elements are at least this, so that each has a logarithm.
inline constexpr float kLeast = 1.1920928955078125e-7f;

// One element as the vectors below do it, for the rest that fills none.
inline void add_one(float x, float y, Sums& to) {
  const double dx = x, dy = y;
  const float distance = std::fabs(x - y);
  const float relative = std::fabs(y) > kZero ? std::fabs(x / y - 1) : 0.0f;
  to.xy += dx * dy, to.xx += dx * dx, to.yy += dy * dy, to.x += dx, to.y += dy;
  to.absolute += distance, to.square += double{distance} * distance, to.relative += relative;
  to.most_absolute = std::max(to.most_absolute, distance), to.most_relative = std::max(to.most_relative, relative);
  to.min_x = std::min(to.min_x, x), to.max_x = std::max(to.max_x, x);
  to.min_y = std::min(to.min_y, y), to.max_y = std::max(to.max_y, y);
}

inline void add_one(float x, float y, const Scale& s, Spread& to) {
  const float p = std::max((x - s.low_x) * s.scale_x, kLeast), q = std::max((y - s.low_y) * s.scale_y, kLeast);
  const double dx = x - s.mean_x, dy = y - s.mean_y;
  to.x += p, to.y += q, to.weighted += double{p} * std::log(p / q);
  to.square_x += dx * dx, to.square_y += dy * dy;
}

}  // namespace npu::compare
#endif

HWY_BEFORE_NAMESPACE();
namespace npu::compare::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;
using VF = hn::Vec<Floats>;
using VD = hn::Vec<Doubles>;

/// The two halves of a vector of floats.
struct Wide {
  VD low, high;
};
#if HWY_TARGET == HWY_SCALAR  // whose vectors have no halves
HWY_ATTR Wide widen(VF v) { return {hn::PromoteTo(Doubles(), v), hn::Zero(Doubles())}; }
#else
HWY_ATTR Wide widen(VF v) {
  const hn::Half<Floats> half;
  return {hn::PromoteTo(Doubles(), hn::LowerHalf(half, v)), hn::PromoteTo(Doubles(), hn::UpperHalf(half, v))};
}
#endif
HWY_ATTR VD add(VD sum, Wide v) { return hn::Add(hn::Add(sum, v.low), v.high); }
HWY_ATTR VD add_product(VD sum, Wide a, Wide b) { return hn::MulAdd(a.high, b.high, hn::MulAdd(a.low, b.low, sum)); }
HWY_ATTR double total(VD v) { return hn::GetLane(hn::SumOfLanes(Doubles(), v)); }

Sums run_sums(const float* x, const float* y, size_t count) {
  const Floats d;
  const Doubles dd;
  VD xy = hn::Zero(dd), xx = xy, yy = xy, sx = xy, sy = xy, absolute = xy, square = xy, relative = xy;
  VF most_absolute = hn::Zero(d), most_relative = most_absolute;
  Sums found;
  VF min_x = hn::Set(d, found.min_x), max_x = hn::Set(d, found.max_x), min_y = min_x, max_y = max_x;
  const VF zero = hn::Set(d, kZero), one = hn::Set(d, 1.0f);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const VF a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    const VF distance = hn::Abs(hn::Sub(a, b));
    const VF r = hn::IfThenElseZero(hn::Gt(hn::Abs(b), zero), hn::Abs(hn::Sub(hn::Div(a, b), one)));
    const Wide wa = widen(a), wb = widen(b), wd = widen(distance);
    xy = add_product(xy, wa, wb), xx = add_product(xx, wa, wa), yy = add_product(yy, wb, wb);
    sx = add(sx, wa), sy = add(sy, wb), absolute = add(absolute, wd), square = add_product(square, wd, wd);
    relative = add(relative, widen(r));
    most_absolute = hn::Max(most_absolute, distance), most_relative = hn::Max(most_relative, r);
    min_x = hn::Min(min_x, a), max_x = hn::Max(max_x, a), min_y = hn::Min(min_y, b), max_y = hn::Max(max_y, b);
  }
  found.xy = total(xy), found.xx = total(xx), found.yy = total(yy), found.x = total(sx), found.y = total(sy);
  found.absolute = total(absolute), found.square = total(square), found.relative = total(relative);
  found.most_absolute = hn::GetLane(hn::MaxOfLanes(d, most_absolute));
  found.most_relative = hn::GetLane(hn::MaxOfLanes(d, most_relative));
  found.min_x = hn::GetLane(hn::MinOfLanes(d, min_x)), found.max_x = hn::GetLane(hn::MaxOfLanes(d, max_x));
  found.min_y = hn::GetLane(hn::MinOfLanes(d, min_y)), found.max_y = hn::GetLane(hn::MaxOfLanes(d, max_y));
  for (; i < count; ++i) add_one(x[i], y[i], found);
  return found;
}

Spread run_spread(const float* x, const float* y, size_t count, const Scale& s) {
  const Floats d;
  const Doubles dd;
  VD sp = hn::Zero(dd), sq = sp, weighted = sp, square_x = sp, square_y = sp;
  const VF low_x = hn::Set(d, s.low_x), scale_x = hn::Set(d, s.scale_x), least = hn::Set(d, kLeast);
  const VF low_y = hn::Set(d, s.low_y), scale_y = hn::Set(d, s.scale_y);
  const VD mean_x = hn::Set(dd, s.mean_x), mean_y = hn::Set(dd, s.mean_y);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const VF a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    const VF p = hn::Max(hn::Mul(hn::Sub(a, low_x), scale_x), least);
    const VF q = hn::Max(hn::Mul(hn::Sub(b, low_y), scale_y), least);
    const Wide wp = widen(p), wa = widen(a), wb = widen(b);
    sp = add(sp, wp), sq = add(sq, widen(q));
    weighted = add_product(weighted, wp, widen(hn::Log(d, hn::Div(p, q))));
    const Wide da = {hn::Sub(wa.low, mean_x), hn::Sub(wa.high, mean_x)};
    const Wide db = {hn::Sub(wb.low, mean_y), hn::Sub(wb.high, mean_y)};
    square_x = add_product(square_x, da, da), square_y = add_product(square_y, db, db);
  }
  Spread found{total(sp), total(sq), total(weighted), total(square_x), total(square_y)};
  for (; i < count; ++i) add_one(x[i], y[i], s, found);
  return found;
}

}  // namespace npu::compare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::compare {

HWY_EXPORT(run_sums);
HWY_EXPORT(run_spread);

Sums sums_of(const float* x, const float* y, size_t count) { return HWY_DYNAMIC_DISPATCH(run_sums)(x, y, count); }

Spread spread_of(const float* x, const float* y, size_t count, const Scale& scale) {
  return HWY_DYNAMIC_DISPATCH(run_spread)(x, y, count, scale);
}

void Sums::add(const Sums& other) {
  xy += other.xy, xx += other.xx, yy += other.yy, x += other.x, y += other.y;
  absolute += other.absolute, square += other.square, relative += other.relative;
  most_absolute = std::max(most_absolute, other.most_absolute);
  most_relative = std::max(most_relative, other.most_relative);
  min_x = std::min(min_x, other.min_x), max_x = std::max(max_x, other.max_x);
  min_y = std::min(min_y, other.min_y), max_y = std::max(max_y, other.max_y);
}

void Spread::add(const Spread& other) {
  x += other.x, y += other.y, weighted += other.weighted;
  square_x += other.square_x, square_y += other.square_y;
}

}  // namespace npu::compare
#endif
