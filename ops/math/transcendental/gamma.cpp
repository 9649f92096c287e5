// SPDX-License-Identifier: Apache-2.0
// The logarithm of the gamma function and its derivative, in double.
#include <cmath>

#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/transcendental/gamma.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
T lgamma_of(T x) {
  int sign = 0;  // the plain function keeps it in a variable all threads share
  return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
}

// Reflection for negative x, the recurrence up to 10, there the asymptotic series (Bernoulli numbers over 2k).
template <class T>
T digamma_of(T value) {
  double x = static_cast<double>(value), result = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<T>::quiet_NaN();  // a pole
    // tan has the period 1 here, and near a pole x - round(x) is exact where x itself is not.
    const double distance = x - std::round(x);
    result = -kPi / std::tan(kPi * distance);
    x = 1 - x;
  }
  // Seven terms from 10 on: the next one is below a double's rounding.
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  constexpr double kTerms[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double series = 0;
  // Horner, smallest terms first.
  for (size_t k = std::size(kTerms); k-- > 0;) series = (series + kTerms[k]) * z;
  return static_cast<T>(result + std::log(x) - 0.5 / x - series);
}

constexpr PointOp kGamma[] = {
    NPU_POINT1("lgamma", "self", kReal, lgamma_of(x)),
    NPU_POINT1("digamma", "self", kReal, digamma_of(x)),
};

std::span<const PointOp> gamma() { return kGamma; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(gamma);
const PointFamily register_gamma("math", HWY_DYNAMIC_DISPATCH(gamma)());
}  // namespace npu::ops
#endif
