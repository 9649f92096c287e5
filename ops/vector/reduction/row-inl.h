// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of a row of floats or doubles in vector registers. Every function adds in an order that depends on
// the length only. The guard lets each instruction set include the file once.
#if defined(NPU_OPS_VECTOR_REDUCTION_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPU_OPS_VECTOR_REDUCTION_ROW_INL_H_
#undef NPU_OPS_VECTOR_REDUCTION_ROW_INL_H_
#else
#define NPU_OPS_VECTOR_REDUCTION_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many lanes as the instruction set has: bits may depend on the CPU class, never on the number of threads.
template <class T>
using RowTag = hn::ScalableTag<T>;

/// The first `count` lanes at `p`, the others 0. Never reads behind p[count).
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* p, int64_t count) {
  if constexpr (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, p);
  } else {
    alignas(64) T block[hn::MaxLanes(D())] = {};
    for (int64_t i = 0; i < count; ++i) block[i] = p[i];
    return hn::Load(d, block);
  }
}

template <class D, class T>
HWY_INLINE void store_first(hn::Vec<D> v, D d, T* p, int64_t count) {
  if constexpr (HWY_TARGET == HWY_AVX3) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, p);
  } else {
    alignas(64) T block[hn::MaxLanes(D())];
    hn::Store(v, d, block);
    for (int64_t i = 0; i < count; ++i) p[i] = block[i];
  }
}

/// Lanes of `v` added up.
template <class D>
HWY_INLINE hn::TFromD<D> lanes_sum(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// Sum of map(load(i)…) over [0, n), `load(d, i, count)` giving lanes that are 0 behind count. Blocks of 4096 elements
/// are summed in T and added in double.
template <class T, class F>
HWY_INLINE double row_sum(int64_t n, F&& value) {
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += 4096) {
    const int64_t end = n - begin < 4096 ? n : begin + 4096;
    // Four chains hide the latency of an addition.
    auto a = hn::Zero(d), b = a, c = a, e = a;
    int64_t i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      a = hn::Add(a, value(d, i, lanes));
      b = hn::Add(b, value(d, i + lanes, lanes));
      c = hn::Add(c, value(d, i + 2 * lanes, lanes));
      e = hn::Add(e, value(d, i + 3 * lanes, lanes));
    }
    for (; i < end; i += lanes) a = hn::Add(a, value(d, i, end - i < lanes ? end - i : lanes));
    total += static_cast<double>(lanes_sum(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  }
  return total;
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* p, int64_t count) {
  return count == static_cast<int64_t>(hn::Lanes(d)) ? hn::LoadU(d, p) : load_first(d, p, count);
}
template <class D, class T>
HWY_INLINE void store_lanes(hn::Vec<D> v, D d, T* p, int64_t count) {
  if (count == static_cast<int64_t>(hn::Lanes(d)))
    hn::StoreU(v, d, p);
  else
    store_first(v, d, p, count);
}

/// `v` with the lanes behind `count` set to 0.
template <class D>
HWY_INLINE hn::Vec<D> full_or_zero(D d, hn::Vec<D> v, int64_t count) {
  if (count == static_cast<int64_t>(hn::Lanes(d))) return v;
  return hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count)), v);
}

/// Calls body(d, i, count) over [0, n) in vector steps; count < lanes only in the last one.
template <class T, class F>
HWY_INLINE void row_each(int64_t n, F&& body) {
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i, lanes);
  if (i < n) body(d, i, n - i);
}

/// Largest element; NaN elements are passed over (what is computed from them shows them). n >= 1.
template <class T>
HWY_INLINE T row_max(const T* x, int64_t n) {
  const RowTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T best = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  if (n >= 2 * lanes) {
    auto a = hn::Set(d, best), b = a;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
      // Max(x, old) keeps the old value where x is a NaN.
      a = hn::Max(hn::LoadU(d, x + i), a);
      b = hn::Max(hn::LoadU(d, x + i + lanes), b);
    }
    best = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

/// e^x for x <= 0, at most 1.5 ulp off; results below the smallest normal number are 0, NaN stays.
template <class D>
HWY_INLINE hn::Vec<D> exp_below_zero(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, float>) {
    const hn::Rebind<int32_t, D> di;
    const auto lowest = hn::Set(d, -87.33f);
    const auto clamped = hn::Max(lowest, x);  // hands a NaN in x on
    const auto n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504088896341f)));
    // ln 2 in two parts; the first has 9 bits, so n times it is exact even where multiply-add is not fused.
    auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), clamped);
    r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
    auto p = hn::Set(d, 1.9875691500e-4f);
    p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
    p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
    p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
    p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
    p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
    p = hn::MulAdd(hn::Mul(p, r), r, hn::Add(r, hn::Set(d, 1.0f)));
    const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
    return hn::IfThenZeroElse(hn::Lt(x, lowest), hn::Mul(p, hn::BitCast(d, power)));
  } else {
    alignas(64) T block[hn::MaxLanes(D())];
    hn::Store(x, d, block);
    for (T& v : block) v = std::exp(v);
    return hn::Load(d, block);
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
