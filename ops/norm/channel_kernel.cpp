// SPDX-License-Identifier: Apache-2.0
// A channel's numbers are added in vectors of the compute dtype over one run or tile, and the results in double.
// Moments take two passes over what is in cache: distances to a first mean, then their squares, so nothing cancels
// however far from zero a channel lies. Coefficients are doubles until they are rounded once, when a kernel starts.
#include "ops/norm/channel_kernel.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/channel_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/norm/spread-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {  // templates of other files must not meet these

template <class T>
/// Runs of one channel are joined one after the other: the next run's moments with those of all before it.
void moments_row(const void* raw, int64_t n, int64_t before, ChannelSums* sums) {
  const auto [mean, squares, moved] = row_spread(static_cast<const T*>(raw), n);
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
  // Two chains for each sum hide the latency of an addition.
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

// Sums over the rows of a tile, lane by lane of its channels: `term(d, row, c, count)` is what one row adds to the
// vector at channel c. Few channels are summed in registers, strip by strip; many are read along memory, with the sums
// in the first-level cache, where enough other channels lie between two additions to one sum.
template <class T, class F>
HWY_INLINE void columns_sum(int64_t rows, int64_t width, T* total, F&& term) {
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (width > 4 * lanes) {
    row_each<T>(width, [&](auto tag, int64_t c, int64_t) HWY_ATTR { hn::Store(hn::Zero(tag), tag, total + c); });
    for (int64_t r = 0; r < rows; ++r) {
      row_each<T>(width, [&](auto tag, int64_t c, int64_t count) HWY_ATTR {
        hn::Store(hn::Add(hn::Load(tag, total + c), term(tag, r, c, count)), tag, total + c);
      });
    }
    return;
  }
  // Four chains again: strip by strip each row would wait for the one before.
  if (width == 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t r = 0; r < rows; ++r) {
      s0 = hn::Add(s0, term(d, r, 0, lanes));
      s1 = hn::Add(s1, term(d, r, lanes, lanes));
      s2 = hn::Add(s2, term(d, r, 2 * lanes, lanes));
      s3 = hn::Add(s3, term(d, r, 3 * lanes, lanes));
    }
    hn::Store(s0, d, total);
    hn::Store(s1, d, total + lanes);
    hn::Store(s2, d, total + 2 * lanes);
    hn::Store(s3, d, total + 3 * lanes);
    return;
  }
  for (int64_t c = 0; c < width; c += lanes) {
    const int64_t count = width - c < lanes ? width - c : lanes;
    auto sum = hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r) sum = hn::Add(sum, term(d, r, c, count));
    hn::Store(sum, d, total + c);
  }
}

template <class T>
void moments_columns(const ChannelBlock& b, int64_t before, ChannelSums* sums) {
  const T* x = static_cast<const T*>(b.x);
  // 16 more: the last vector of a tile is stored whole, up to 16 floats of it.
  alignas(64) T total[kChannelTile + 16], mean[kChannelTile + 16], squares[kChannelTile + 16];
  columns_sum(b.rows, b.width, total, [&](auto d, int64_t r, int64_t c, int64_t count) HWY_ATTR {
    // Differences to the first row, as row_spread takes them to the first element: equal elements have a deviation of
    // exactly 0.
    return hn::Sub(load_lanes(d, x + r * b.x_step + c, count), load_lanes(d, x + c, count));
  });
  const T share = T(1) / static_cast<T>(b.rows);
  for (int64_t c = 0; c < b.width; ++c) mean[c] = x[c] + total[c] * share;
  columns_sum(b.rows, b.width, squares, [&](auto d, int64_t r, int64_t c, int64_t count) HWY_ATTR {
    const auto v = hn::Sub(load_lanes(d, x + r * b.x_step + c, count), hn::Load(d, mean + c));
    return hn::Mul(v, v);
  });
  // The rule of join_moments with everything that is the same for all channels taken out of the loop.
  const auto rows = static_cast<double>(b.rows);
  const double inverse = 1 / rows;
  const double weight = rows / static_cast<double>(before + b.rows);
  const double factor = static_cast<double>(before) * weight;
  for (int64_t c = 0; c < b.width; ++c) {
    const double exact = static_cast<double>(x[c]) + static_cast<double>(total[c]) * inverse;
    // The mean that was subtracted is rounded to T: what that adds to the squares is taken off again.
    const double moved = exact - static_cast<double>(mean[c]);
    const double delta = exact - sums[c].first;
    sums[c].first += delta * weight;
    sums[c].second += static_cast<double>(squares[c]) - moved * moved * rows + delta * delta * factor;
  }
}

template <class T>
void products_columns(const ChannelBlock& b, const double* center, ChannelSums* sums) {
  const T* x = static_cast<const T*>(b.x);
  const T* g = static_cast<const T*>(b.g);
  alignas(64) T mean[kChannelTile + 16], total[kChannelTile + 16], dots[kChannelTile + 16];
  narrow(center, b.width, mean);
  columns_sum(b.rows, b.width, total, [&](auto d, int64_t r, int64_t c, int64_t count) HWY_ATTR {
    return load_lanes(d, g + r * b.g_step + c, count);
  });
  columns_sum(b.rows, b.width, dots, [&](auto d, int64_t r, int64_t c, int64_t count) HWY_ATTR {
    const auto v = hn::Sub(load_lanes(d, x + r * b.x_step + c, count), hn::Load(d, mean + c));
    return hn::Mul(load_lanes(d, g + r * b.g_step + c, count), v);
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
  alignas(64) T center[kChannelTile + 16], scale[kChannelTile + 16], shift[kChannelTile + 16];
  narrow(map.center, b.width, center);
  narrow(map.scale, b.width, scale);
  narrow(map.shift, b.width, shift);
  for (int64_t r = 0; r < b.rows; ++r) {
    const T* from = x + r * b.x_step;
    T* to = out + r * b.out_step;
    row_each<T>(b.width, [&](auto d, int64_t c, int64_t count) HWY_ATTR {
      const auto v = hn::Sub(load_lanes(d, from + c, count), hn::Load(d, center + c));
      store_lanes(hn::MulAdd(v, hn::Load(d, scale + c), hn::Load(d, shift + c)), d, to + c, count);
    });
  }
}

template <class T>
void gradient_columns(const ChannelBlock& b, const ChannelMap& map) {
  const T* x = static_cast<const T*>(b.x);
  const T* g = static_cast<const T*>(b.g);
  T* out = static_cast<T*>(b.out);
  alignas(64) T center[kChannelTile + 16], scale[kChannelTile + 16], shift[kChannelTile + 16], slope[kChannelTile + 16];
  narrow(map.center, b.width, center);
  narrow(map.scale, b.width, scale);
  narrow(map.shift, b.width, shift);
  narrow(map.slope, b.width, slope);
  for (int64_t r = 0; r < b.rows; ++r) {
    const T* from = x + r * b.x_step;
    const T* grad = g + r * b.g_step;
    T* to = out + r * b.out_step;
    row_each<T>(b.width, [&](auto d, int64_t c, int64_t count) HWY_ATTR {
      const auto v = hn::Sub(load_lanes(d, from + c, count), hn::Load(d, center + c));
      const auto rest = hn::Sub(load_lanes(d, grad + c, count), hn::Load(d, shift + c));
      store_lanes(hn::Mul(hn::NegMulAdd(v, hn::Load(d, slope + c), rest), hn::Load(d, scale + c)), d, to + c, count);
    });
  }
}

template <class T>
constexpr ChannelKernel kKernel = {&moments_row<T>,     &products_row<T>,     &affine_row<T>,     &gradient_row<T>,
                                   &moments_columns<T>, &products_columns<T>, &affine_columns<T>, &gradient_columns<T>};

const ChannelKernel* channel_kernel_for(DType slot) {
  return slot == DType::kDouble ? &kKernel<double> : &kKernel<float>;
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(channel_kernel_for);
const ChannelKernel& channel_kernel(DType slot) { return *HWY_DYNAMIC_DISPATCH(channel_kernel_for)(slot); }
}  // namespace npu::ops
#endif
