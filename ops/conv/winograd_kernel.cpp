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

/// at(i, j): where number (i, j) of a square begins.
template <int kSide, class At>
HWY_INLINE void load(At at, V (&x)[kSide][kSide]) {
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kSide; ++j) x[i][j] = hn::LoadU(D(), at(i, j));
  }
}
template <int kSide, class At>
HWY_INLINE void store(const V (&x)[kSide][kSide], At at) {
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kSide; ++j) hn::StoreU(x[i][j], D(), at(i, j));
  }
}

/// All channels, a vector at a time, from at(i, j) to their points.
template <class F, int kFrom, class At>
HWY_INLINE void to_points(At at, int64_t channels, const WinogradPlace& place) {
  for (int64_t c = 0; c < channels; c += static_cast<int64_t>(hn::Lanes(D()))) {
    V x[kFrom][kFrom], points[4][4];
    load([&](int i, int j) HWY_ATTR { return at(i, j) + c; }, x);
    both_ways<F>(x, points);
    float* to = place.to + c / kWinogradPanel * place.panel + c % kWinogradPanel;
    store(points, [&](int i, int j) HWY_ATTR { return to + (4 * i + j) * place.point; });
  }
}

void input(const float* tile, int64_t line, int64_t pixel, int64_t channels, const WinogradPlace& place) {
  to_points<Spread, 4>([&](int i, int j) HWY_ATTR { return tile + i * line + j * pixel; }, channels, place);
}

void input_at(const float* const* pixel, int64_t channels, const WinogradPlace& place) {
  to_points<Spread, 4>([&](int i, int j) HWY_ATTR { return pixel[4 * i + j]; }, channels, place);
}

void gradient(const float* const* pixel, int64_t channels, const WinogradPlace& place) {
  to_points<GatherTurned, 2>([&](int i, int j) HWY_ATTR { return pixel[2 * i + j]; }, channels, place);
}

void output(const float* from, int64_t stride, int64_t channels, const float* bias, float* const* pixel) {
  for (int64_t c = 0; c < channels; c += static_cast<int64_t>(hn::Lanes(D()))) {
    V points[4][4], x[2][2];
    load([&](int i, int j) HWY_ATTR { return from + (4 * i + j) * stride + c; }, points);
    both_ways<Gather>(points, x);
    const V more = bias == nullptr ? hn::Zero(D()) : hn::LoadU(D(), bias + c);
    for (auto& line : x)
      for (V& one : line) one = hn::Add(one, more);
    store(x, [&](int i, int j) HWY_ATTR { return pixel[2 * i + j] + c; });
  }
}

void filter(const float* taps, int64_t tap, int64_t count, float* to, int64_t point) {
  for (int64_t c = 0; c < count; c += static_cast<int64_t>(hn::Lanes(D()))) {
    V x[3][3], points[4][4];
    load([&](int i, int j) HWY_ATTR { return taps + (3 * i + j) * tap + c; }, x);
    both_ways<Filter>(x, points);
    store(points, [&](int i, int j) HWY_ATTR { return to + (4 * i + j) * point + c; });
  }
}

void taps(const float* from, int64_t point, int64_t count, float* to, int64_t tap) {
  for (int64_t c = 0; c < count; c += static_cast<int64_t>(hn::Lanes(D()))) {
    V points[4][4], x[3][3];
    load([&](int i, int j) HWY_ATTR { return from + (4 * i + j) * point + c; }, points);
    both_ways<FilterTurned>(points, x);
    store(x, [&](int i, int j) HWY_ATTR { return to + (3 * i + j) * tap + c; });
  }
}

// Sums that stay in registers: half of AVX-512's, half of AVX2's.
constexpr int kBlock = HWY_MAX_BYTES >= 64 ? 8 : 4;

/// kBlock rows by kVectors vectors, from row r and column `col` on.
template <bool kTurned, int kVectors>
HWY_INLINE void block(const WinogradProduct& p, int64_t r, int64_t col) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const float* row[kBlock];
  const float* right[kVectors];
  V sum[kBlock][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kBlock; ++i) {
    row[i] = p.a + (kTurned ? r + i : (r + i) * p.a_row);
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(D());
  }
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    const int64_t at = col + j * lanes;
    right[j] = p.b + at / kWinogradPanel * p.panel + at % kWinogradPanel;
  }
  for (int64_t k = 0; k < p.k; ++k) {
    V of[kVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) of[j] = hn::LoadU(D(), right[j] + k * kWinogradPanel);
#pragma GCC unroll 8
    for (int i = 0; i < kBlock; ++i) {
      const V left = hn::Set(D(), kTurned ? row[0][k * p.a_row + i] : row[i][k]);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(left, of[j], sum[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kBlock; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      float* to = p.c + (r + i) * p.ldc + col + j * lanes;
      hn::StoreU(p.add ? hn::Add(hn::LoadU(D(), to), sum[i][j]) : sum[i][j], D(), to);
    }
  }
}

template <bool kTurned>
void multiply(const WinogradProduct& p) {
  const auto pair = 2 * static_cast<int64_t>(hn::Lanes(D()));
  int64_t col = 0;
  for (; col + pair <= p.cols; col += pair)
    for (int64_t r = 0; r < p.rows; r += kBlock) block<kTurned, 2>(p, r, col);
  for (; col < p.cols; col += pair / 2)
    for (int64_t r = 0; r < p.rows; r += kBlock) block<kTurned, 1>(p, r, col);
}

void product(const WinogradProduct& p) { p.turned ? multiply<true>(p) : multiply<false>(p); }

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
HWY_EXPORT(product);

void winograd_input(const float* tile, int64_t line, int64_t pixel, int64_t channels, const WinogradPlace& place) {
  HWY_DYNAMIC_DISPATCH(input)(tile, line, pixel, channels, place);
}

void winograd_input(const float* const* pixel, int64_t channels, const WinogradPlace& place) {
  HWY_DYNAMIC_DISPATCH(input_at)(pixel, channels, place);
}

void winograd_output(const float* from, int64_t stride, int64_t channels, const float* bias, float* const* pixel) {
  HWY_DYNAMIC_DISPATCH(output)(from, stride, channels, bias, pixel);
}

void winograd_gradient(const float* const* pixel, int64_t channels, const WinogradPlace& place) {
  HWY_DYNAMIC_DISPATCH(gradient)(pixel, channels, place);
}

void winograd_filter(const float* from, int64_t tap, int64_t count, float* to, int64_t point) {
  HWY_DYNAMIC_DISPATCH(filter)(from, tap, count, to, point);
}

void winograd_taps(const float* from, int64_t point, int64_t count, float* to, int64_t tap) {
  HWY_DYNAMIC_DISPATCH(taps)(from, point, count, to, tap);
}

void winograd_product(const WinogradProduct& p) { HWY_DYNAMIC_DISPATCH(product)(p); }

}  // namespace npu::ops
#endif
