// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/row_kernel.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/row_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/norm/spread-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {  // templates of other files must not meet these

template <class T>
RowMoments layer_moments(const void* raw, int64_t n, double eps) {
  const auto [mean, squares, moved] = row_spread(static_cast<const T*>(raw), n);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) - moved * moved + eps)};
}

template <class T>
RowMoments rms_moments(const void* raw, int64_t n, double eps) {
  const T* x = static_cast<const T*>(raw);
  const double squares = row_sum<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = load_lanes(d, x + i, count);
    return hn::Mul(v, v);
  });
  return {0, 1 / std::sqrt(squares / static_cast<double>(n) + eps)};
}

template <class T>
void normalise(const void* x_raw, const void* w_raw, const void* b_raw, void* out_raw, int64_t n, const RowMoments& m) {
  const T* x = static_cast<const T*>(x_raw);
  const T* w = static_cast<const T*>(w_raw);
  const T* b = static_cast<const T*>(b_raw);
  T* out = static_cast<T*>(out_raw);
  const T mean = static_cast<T>(m.mean), rstd = static_cast<T>(m.rstd);
  const auto unit = [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    return hn::Mul(hn::Sub(load_lanes(d, x + i, count), hn::Set(d, mean)), hn::Set(d, rstd));
  };
  if (w != nullptr && b != nullptr) {
    row_each<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
      store_lanes(hn::MulAdd(unit(d, i, count), load_lanes(d, w + i, count), load_lanes(d, b + i, count)), d, out + i,
                  count);
    });
  } else if (w != nullptr) {
    row_each<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
      store_lanes(hn::Mul(unit(d, i, count), load_lanes(d, w + i, count)), d, out + i, count);
    });
  } else {
    row_each<T>(n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
      const auto v = unit(d, i, count);
      store_lanes(b == nullptr ? v : hn::Add(v, load_lanes(d, b + i, count)), d, out + i, count);
    });
  }
}

template <class T>
struct Means {
  T first, second;
};

// Means of a and of a * b, read in one pass; the first one is 0 unless it is wanted.
template <class T, bool kFirst, class A, class B>
HWY_INLINE Means<T> gradient_means(int64_t n, A&& a, B&& b) {
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  double first = 0, second = 0;
  // Blocks as in row_sum, added in double: long rows lose no more than short ones.
  for (int64_t begin = 0; begin < n; begin += 4096) {
    const int64_t end = n - begin < 4096 ? n : begin + 4096;
    auto s0 = hn::Zero(d), s1 = s0, p0 = s0, p1 = s0;
    int64_t i = begin;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      const auto v0 = a(d, i, lanes), v1 = a(d, i + lanes, lanes);
      s0 = hn::Add(s0, v0);
      s1 = hn::Add(s1, v1);
      p0 = hn::MulAdd(v0, b(d, i, lanes), p0);
      p1 = hn::MulAdd(v1, b(d, i + lanes, lanes), p1);
    }
    for (; i < end; i += lanes) {
      const int64_t count = end - i < lanes ? end - i : lanes;
      const auto v0 = a(d, i, count);
      s0 = hn::Add(s0, v0);
      p0 = hn::MulAdd(v0, b(d, i, count), p0);
    }
    if (kFirst) first += static_cast<double>(lanes_sum(d, hn::Add(s0, s1)));
    second += static_cast<double>(lanes_sum(d, hn::Add(p0, p1)));
  }
  const auto count = static_cast<double>(n);
  return {static_cast<T>(first / count), static_cast<T>(second / count)};
}

// The gradient of out = unit * weight + bias with respect to x is
//   rstd * (g * weight - mean(g * weight) - unit * mean(g * weight * unit)),
// without the first mean where the row was not centred.
template <class T, bool kCentred>
void gradient(const RowGradient& row, const RowMoments& m) {
  const T* g = static_cast<const T*>(row.g);
  const T* x = static_cast<const T*>(row.x);
  const T* w = static_cast<const T*>(row.weight);
  T* out = static_cast<T*>(row.out);
  // Sums over rows grow in T for 64 rows (kFlush in norm_rows.cpp) and move to double then: vectors of T add twice as
  // many at once, and 64 terms lose little.
  T* ws = static_cast<T*>(row.weight_sum);
  T* bs = static_cast<T*>(row.bias_sum);
  const T mean = static_cast<T>(m.mean), rstd = static_cast<T>(m.rstd);
  const auto unit = [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    return hn::Mul(hn::Sub(load_lanes(d, x + i, count), hn::Set(d, mean)), hn::Set(d, rstd));
  };
  const auto weighted = [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = load_lanes(d, g + i, count);
    return w == nullptr ? v : hn::Mul(v, load_lanes(d, w + i, count));
  };
  if (out != nullptr) {
    const auto [first, second] = gradient_means<T, kCentred>(row.n, weighted, unit);
    const T first_mean = first, second_mean = second;
    row_each<T>(row.n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
      const auto rest = hn::Sub(weighted(d, i, count), hn::Set(d, first_mean));
      const auto v = hn::NegMulAdd(unit(d, i, count), hn::Set(d, second_mean), rest);
      // `out` may be the row of x or g: what is still needed of them here is read before it is overwritten.
      if (ws != nullptr) {
        const auto sum = hn::MulAdd(load_lanes(d, g + i, count), unit(d, i, count), load_lanes(d, ws + i, count));
        store_lanes(sum, d, ws + i, count);
      }
      if (bs != nullptr) {
        store_lanes(hn::Add(load_lanes(d, bs + i, count), load_lanes(d, g + i, count)), d, bs + i, count);
      }
      store_lanes(hn::Mul(v, hn::Set(d, rstd)), d, out + i, count);
    });
    return;
  }
  row_each<T>(row.n, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto v = load_lanes(d, g + i, count);
    if (ws != nullptr) {
      store_lanes(hn::MulAdd(v, unit(d, i, count), load_lanes(d, ws + i, count)), d, ws + i, count);
    }
    if (bs != nullptr) store_lanes(hn::Add(load_lanes(d, bs + i, count), v), d, bs + i, count);
  });
}

template <class T>
void add(const void* a_raw, const void* b_raw, void* out_raw, int64_t n) {
  const T* a = static_cast<const T*>(a_raw);
  const T* b = static_cast<const T*>(b_raw);
  T* out = static_cast<T*>(out_raw);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

template <class T>
void flush(void* row, int64_t n, double* total) {
  T* r = static_cast<T*>(row);
  for (int64_t i = 0; i < n; ++i) {
    total[i] += static_cast<double>(r[i]);
    r[i] = 0;
  }
}

template <class T>
constexpr RowKernel kKernel = {&layer_moments<T>,   &rms_moments<T>, &normalise<T>, &gradient<T, true>,
                               &gradient<T, false>, &add<T>,         &flush<T>};

const RowKernel* row_kernel_for(DType slot) { return slot == DType::kDouble ? &kKernel<double> : &kKernel<float>; }

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(row_kernel_for);
const RowKernel& row_kernel(DType slot) { return *HWY_DYNAMIC_DISPATCH(row_kernel_for)(slot); }
}  // namespace npu::ops
#endif
