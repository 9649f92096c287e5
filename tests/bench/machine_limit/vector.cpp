// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/machine_limit/limit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/machine_limit/vector.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::limit::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Two units with a latency of four need eight sums that do not wait for each other; twelve fit in 16 registers.
constexpr int kSums = 12;

template <class T>
double multiply_add(int64_t rounds) {
  const hn::ScalableTag<T> d;
  const volatile T seed = static_cast<T>(0.5);
  const auto x = hn::Set(d, seed);
  hn::Vec<decltype(d)> sum[kSums];
#pragma GCC unroll 12
  for (auto& s : sum) s = hn::Set(d, seed);  // read again each time: equal sums would become one
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (auto& s : sum) s = hn::MulAdd(s, x, x);
  }
  HWY_ALIGN T out[hn::MaxLanes(d)];
#pragma GCC unroll 12
  for (auto& s : sum) {
    hn::Store(s, d, out);
    keep(out[0]);
  }
  return 2.0 * kSums * static_cast<double>(hn::Lanes(d) * rounds);
}

double read(float* a, const float*, const float*, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[8];
#pragma GCC unroll 8
  for (auto& s : sum) s = hn::Zero(d);
  for (int64_t i = 0; i < n; i += 8 * lanes) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) sum[k] = hn::Add(sum[k], hn::Load(d, a + i + k * lanes));
  }
#pragma GCC unroll 8
  for (auto& s : sum) keep(hn::GetLane(s));
  return 4.0 * static_cast<double>(n);
}

template <bool kStream>
double copy(float* a, const float* b, const float*, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int64_t k = i; k < i + 4 * lanes; k += lanes) {
      const auto value = hn::Load(d, b + k);
      kStream ? hn::Stream(value, d, a + k) : hn::Store(value, d, a + k);
    }
  }
  return 8.0 * static_cast<double>(n);
}

template <bool kStream>
double triad(float* a, const float* b, const float* c, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, 0.5F);
  for (int64_t i = 0; i < n; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int64_t k = i; k < i + 4 * lanes; k += lanes) {
      const auto value = hn::MulAdd(factor, hn::Load(d, c + k), hn::Load(d, b + k));
      kStream ? hn::Stream(value, d, a + k) : hn::Store(value, d, a + k);
    }
  }
  return 12.0 * static_cast<double>(n);
}

std::vector<ArithmeticCase> arithmetic_here() {
  return {{"fp32", &multiply_add<float>}, {"fp64", &multiply_add<double>}};
}

std::vector<MovementCase> movements_here() {
  return {{"read", &read, 1},
          {"copy", &copy<false>, 2},
          {"copy", &copy<true>, 2},
          {"triad", &triad<false>, 3},
          {"triad", &triad<true>, 3}};
}

}  // namespace
}  // namespace npu::limit::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::limit {
HWY_EXPORT(arithmetic_here);
HWY_EXPORT(movements_here);
std::vector<ArithmeticCase> vector_arithmetic() { return HWY_DYNAMIC_DISPATCH(arithmetic_here)(); }
std::vector<MovementCase> movements() { return HWY_DYNAMIC_DISPATCH(movements_here)(); }
}  // namespace npu::limit
#endif
