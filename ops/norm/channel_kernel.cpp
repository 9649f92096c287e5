// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/channel_kernel.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/channel_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
void moments_row(const void* raw, int64_t n, int64_t before, ChannelSums* sums) {
  const T* x = static_cast<const T*>(raw);
  // Summing differences to one element keeps equal elements exact: their deviation is 0, not a rounding error that
  // 1 / sqrt(eps) would magnify.
  const T base = x[0];
  const double mean = static_cast<double>(base) +
                      row_sum<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
                        return full_or_zero(d, hn::Sub(load_lanes(d, x + i, count), hn::Set(d, base)), count);
                      }) / static_cast<double>(n);
  const T center = static_cast<T>(mean);
  const double squares = row_sum<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = hn::Sub(load_lanes(d, x + i, count), hn::Set(d, center));
    return full_or_zero(d, hn::Mul(v, v), count);
  });
  // The squares were taken around the rounded mean; moving them to the exact one removes what rounding added.
  const double moved = mean - static_cast<double>(center);
  const ChannelSums here{mean, squares - moved * moved * static_cast<double>(n)};
  *sums = before == 0 ? here : join_moments(*sums, before, here, n);
}

template <class T>
void products_row(const void* g_raw, const void* x_raw, int64_t n, double center, ChannelSums* sums) {
  const T* g = static_cast<const T*>(g_raw);
  const T* x = static_cast<const T*>(x_raw);
  const T c = static_cast<T>(center);
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, p0 = s0, p1 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto g0 = hn::LoadU(d, g + i), g1 = hn::LoadU(d, g + i + lanes);
    s0 = hn::Add(s0, g0);
    s1 = hn::Add(s1, g1);
    p0 = hn::MulAdd(g0, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, c)), p0);
    p1 = hn::MulAdd(g1, hn::Sub(hn::LoadU(d, x + i + lanes), hn::Set(d, c)), p1);
  }
  for (; i < n; i += lanes) {
    const int64_t count = n - i < lanes ? n - i : lanes;
    const auto g0 = load_lanes(d, g + i, count);
    s0 = hn::Add(s0, g0);
    p0 = hn::MulAdd(g0, hn::Sub(load_lanes(d, x + i, count), hn::Set(d, c)), p0);
  }
  sums->first += static_cast<double>(lanes_sum(d, hn::Add(s0, s1)));
  sums->second += static_cast<double>(lanes_sum(d, hn::Add(p0, p1)));
}

template <class T>
void affine_row(const void* x_raw, void* out_raw, int64_t n, const ChannelMap& map, int64_t c) {
  const T* x = static_cast<const T*>(x_raw);
  T* out = static_cast<T*>(out_raw);
  const T center = static_cast<T>(map.center[c]), scale = static_cast<T>(map.scale[c]);
  const T shift = static_cast<T>(map.shift[c]);
  row_each<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = hn::Sub(load_lanes(d, x + i, count), hn::Set(d, center));
    store_lanes(hn::MulAdd(v, hn::Set(d, scale), hn::Set(d, shift)), d, out + i, count);
  });
}

template <class T>
void gradient_row(const void* g_raw, const void* x_raw, void* out_raw, int64_t n, const ChannelMap& map, int64_t c) {
  const T* g = static_cast<const T*>(g_raw);
  const T* x = static_cast<const T*>(x_raw);
  T* out = static_cast<T*>(out_raw);
  const T center = static_cast<T>(map.center[c]), scale = static_cast<T>(map.scale[c]);
  const T shift = static_cast<T>(map.shift[c]), slope = static_cast<T>(map.slope[c]);
  row_each<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = hn::Sub(load_lanes(d, x + i, count), hn::Set(d, center));
    const auto rest = hn::NegMulAdd(v, hn::Set(d, slope), hn::Sub(load_lanes(d, g + i, count), hn::Set(d, shift)));
    store_lanes(hn::Mul(rest, hn::Set(d, scale)), d, out + i, count);
  });
}

// --- columns ------------------------------------------------------------------------------------------------------

template <class T>
HWY_INLINE void narrow(const double* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

// Calls body(d, c, count, vectors) for strips of the channels of a tile: four vectors at a time as long as they fit, so
// that sums over the rows stay in registers.
template <class T, class F>
HWY_INLINE void each_strip(int64_t width, F&& body) {
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) body(d, c, lanes, std::integral_constant<int, 4>());
  for (; c < width; c += lanes) {
    body(d, c, width - c < lanes ? width - c : lanes, std::integral_constant<int, 1>());
  }
}

template <class T>
void moments_columns(const ChannelBlock& b, int64_t before, ChannelSums* sums) {
  const T* x = static_cast<const T*>(b.x);
  alignas(64) T total[kChannelTile + 16], mean[kChannelTile + 16], squares[kChannelTile + 16];
  const T share = T(1) / static_cast<T>(b.rows);
  each_strip<T>(b.width, [&](auto d, int64_t c, int64_t count, auto vectors) HWY_ATTR {
    constexpr int kVectors = decltype(vectors)::value;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> base[kVectors], sum[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      base[k] = load_lanes(d, x + c + k * lanes, count);
      sum[k] = hn::Zero(d);
    }
    for (int64_t r = 1; r < b.rows; ++r) {
      for (int k = 0; k < kVectors; ++k) {
        sum[k] = hn::Add(sum[k], hn::Sub(load_lanes(d, x + r * b.x_step + c + k * lanes, count), base[k]));
      }
    }
    for (int k = 0; k < kVectors; ++k) {
      hn::StoreU(sum[k], d, total + c + k * lanes);
      base[k] = hn::MulAdd(sum[k], hn::Set(d, share), base[k]);
      hn::StoreU(base[k], d, mean + c + k * lanes);
      sum[k] = hn::Zero(d);
    }
    for (int64_t r = 0; r < b.rows; ++r) {
      for (int k = 0; k < kVectors; ++k) {
        const auto v = hn::Sub(load_lanes(d, x + r * b.x_step + c + k * lanes, count), base[k]);
        sum[k] = hn::MulAdd(v, v, sum[k]);
      }
    }
    for (int k = 0; k < kVectors; ++k) hn::StoreU(sum[k], d, squares + c + k * lanes);
  });
  for (int64_t c = 0; c < b.width; ++c) {
    const double exact = static_cast<double>(x[c]) + static_cast<double>(total[c]) / static_cast<double>(b.rows);
    const double moved = exact - static_cast<double>(mean[c]);
    const ChannelSums here{exact, static_cast<double>(squares[c]) - moved * moved * static_cast<double>(b.rows)};
    sums[c] = before == 0 ? here : join_moments(sums[c], before, here, b.rows);
  }
}

template <class T>
void products_columns(const ChannelBlock& b, const double* center, ChannelSums* sums) {
  const T* x = static_cast<const T*>(b.x);
  const T* g = static_cast<const T*>(b.g);
  alignas(64) T mean[kChannelTile + 16], total[kChannelTile + 16], dots[kChannelTile + 16];
  narrow(center, b.width, mean);
  each_strip<T>(b.width, [&](auto d, int64_t c, int64_t count, auto vectors) HWY_ATTR {
    constexpr int kVectors = decltype(vectors)::value;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> base[kVectors], sum[kVectors], dot[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      base[k] = hn::LoadU(d, mean + c + k * lanes);
      sum[k] = dot[k] = hn::Zero(d);
    }
    for (int64_t r = 0; r < b.rows; ++r) {
      for (int k = 0; k < kVectors; ++k) {
        const auto v = load_lanes(d, g + r * b.g_step + c + k * lanes, count);
        sum[k] = hn::Add(sum[k], v);
        dot[k] = hn::MulAdd(v, hn::Sub(load_lanes(d, x + r * b.x_step + c + k * lanes, count), base[k]), dot[k]);
      }
    }
    for (int k = 0; k < kVectors; ++k) {
      hn::StoreU(sum[k], d, total + c + k * lanes);
      hn::StoreU(dot[k], d, dots + c + k * lanes);
    }
  });
  for (int64_t c = 0; c < b.width; ++c) {
    sums[c].first += static_cast<double>(total[c]);
    sums[c].second += static_cast<double>(dots[c]);
  }
}

template <class T>
void affine_columns(const ChannelBlock& b, const ChannelMap& map) {
  const T* x = static_cast<const T*>(b.x);
  T* out = static_cast<T*>(b.out);
  alignas(64) T center[kMapTile], scale[kMapTile], shift[kMapTile];
  narrow(map.center, b.width, center);
  narrow(map.scale, b.width, scale);
  narrow(map.shift, b.width, shift);
  for (int64_t r = 0; r < b.rows; ++r) {
#pragma GCC ivdep
    for (int64_t c = 0; c < b.width; ++c) {
      out[r * b.out_step + c] = (x[r * b.x_step + c] - center[c]) * scale[c] + shift[c];
    }
  }
}

template <class T>
void gradient_columns(const ChannelBlock& b, const ChannelMap& map) {
  const T* x = static_cast<const T*>(b.x);
  const T* g = static_cast<const T*>(b.g);
  T* out = static_cast<T*>(b.out);
  alignas(64) T center[kMapTile], scale[kMapTile], shift[kMapTile], slope[kMapTile];
  narrow(map.center, b.width, center);
  narrow(map.scale, b.width, scale);
  narrow(map.shift, b.width, shift);
  narrow(map.slope, b.width, slope);
  for (int64_t r = 0; r < b.rows; ++r) {
#pragma GCC ivdep
    for (int64_t c = 0; c < b.width; ++c) {
      const T v = x[r * b.x_step + c] - center[c];
      out[r * b.out_step + c] = (g[r * b.g_step + c] - shift[c] - v * slope[c]) * scale[c];
    }
  }
}

template <class T>
constexpr ChannelKernel kKernel = {&moments_row<T>,     &products_row<T>,     &affine_row<T>,     &gradient_row<T>,
                                   &moments_columns<T>, &products_columns<T>, &affine_columns<T>, &gradient_columns<T>};

const ChannelKernel* kernel_for(DType slot) { return slot == DType::kDouble ? &kKernel<double> : &kKernel<float>; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(kernel_for);
const ChannelKernel& channel_kernel(DType slot) { return *HWY_DYNAMIC_DISPATCH(kernel_for)(slot); }
}  // namespace npu::ops
#endif
