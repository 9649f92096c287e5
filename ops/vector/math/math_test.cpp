// SPDX-License-Identifier: Apache-2.0
// Accuracy of the float functions against the C library's double ones, for every instruction set this machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/math/math_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

#ifndef NPU_OPS_VECTOR_MATH_TEST_ONCE_
#define NPU_OPS_VECTOR_MATH_TEST_ONCE_
namespace npu::ops {
// One function under test: values of x for which |error| must stay below `ulp` units in the last place of float.
struct Measured {
  const char* name;
  void (*run)(const float* x, float* result, size_t count);
  double (*exact)(double x);
  float low, high;
  double ulp;
};
struct Binaries {
  float (*pow)(float, float);
  float (*atan2)(float, float);
  float (*fmod)(float, float);
};
}  // namespace npu::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

#undef NPU_MEASURED
#define NPU_MEASURED(function, exact, low, high, ulp)           \
  Measured {                                                    \
    #function,                                                  \
        [](const float* x, float* r, size_t n) HWY_ATTR {       \
          for (size_t i = 0; i < n; ++i) r[i] = function(x[i]); \
        },                                                      \
        exact, low, high, ulp                                   \
  }

constexpr float kAll = std::numeric_limits<float>::infinity();
double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exact_normal(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
double exact_normal_slope(double x) { return exact_normal(x) + x * std::exp(-0.5 * x * x) * 0.39894228040143267794; }

const Measured kMeasured[] = {
    NPU_MEASURED(exp_of, std::exp, -kAll, kAll, 1.1),
    NPU_MEASURED(exp2_of, std::exp2, -kAll, kAll, 0.51),
    NPU_MEASURED(expm1_of, std::expm1, -kAll, kAll, 1.6),
    NPU_MEASURED(log_of, std::log, -kAll, kAll, 0.9),
    NPU_MEASURED(log2_of, std::log2, -kAll, kAll, 0.51),
    NPU_MEASURED(log10_of, std::log10, -kAll, kAll, 0.51),
    NPU_MEASURED(log1p_of, std::log1p, -kAll, kAll, 1.5),
    NPU_MEASURED(tanh_of, std::tanh, -kAll, kAll, 2.6),
    NPU_MEASURED(sinh_of, std::sinh, -kAll, kAll, 0.51),
    NPU_MEASURED(cosh_of, std::cosh, -kAll, kAll, 0.51),
    NPU_MEASURED(asinh_of, std::asinh, -kAll, kAll, 0.51),
    NPU_MEASURED(acosh_of, std::acosh, -kAll, kAll, 0.51),
    NPU_MEASURED(atanh_of, std::atanh, -kAll, kAll, 0.51),
    NPU_MEASURED(sigmoid_of, exact_sigmoid, -88, kAll, 2.5),
    NPU_MEASURED(erf_of, std::erf, -kAll, kAll, 1.3),
    NPU_MEASURED(erfc_of, std::erfc, -kAll, kAll, 0.6),
    NPU_MEASURED(erfinv_of, erfinv_of, -kAll, kAll, 1.0),
    NPU_MEASURED(sin_of, std::sin, -kReducible, kReducible, 0.51),
    NPU_MEASURED(cos_of, std::cos, -kReducible, kReducible, 0.51),
    NPU_MEASURED(tan_of, std::tan, -kReducible, kReducible, 0.51),
    NPU_MEASURED(asin_of, std::asin, -kAll, kAll, 0.51),
    NPU_MEASURED(acos_of, std::acos, -kAll, kAll, 0.51),
    NPU_MEASURED(atan_of, std::atan, -kAll, kAll, 0.51),
    // The tail is relative to e^-x²/2, whose exponent is rounded; see normal_tail.
    NPU_MEASURED(normal_of, exact_normal, -4, kAll, 96),
    // Towards its zero at -0.75 two summands cancel.
    NPU_MEASURED(normal_slope, exact_normal_slope, -0.5, kAll, 8),
};

std::span<const Measured> measured() { return kMeasured; }

float pow_here(float x, float y) { return pow_of(x, y); }
float atan2_here(float x, float y) { return atan2_of(x, y); }
float fmod_here(float x, float y) { return is_beyond_quotient(x, y) ? std::fmod(x, y) : fmod_of(x, y); }

Binaries binaries() { return {&pow_here, &atan2_here, &fmod_here}; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(measured);

float float_of(uint32_t bits) {
  float out = 0;
  std::memcpy(&out, &bits, sizeof(out));
  return out;
}

// Distance in units of the last place of the exact value; 0 when the result is the exact value, rounded.
double ulps(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e9;
  const auto rounded = static_cast<float>(exact);
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(rounded)) return std::isinf(got) && std::fabs(exact) > 3.4e38 ? 1 : 1e9;
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::fabs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 23);
}

// Floats of all magnitudes, and the places where functions change their form.
std::vector<float> sample() {
  std::vector<float> out;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 9973)
    out.push_back(float_of(static_cast<uint32_t>(bits)));
  for (float x = -20; x < 20; x += 0.00131f) out.push_back(x);
  for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-45f, -1e-45f, 0x1p-126f, 88.72283f, 88.73f, -87.4f, -103.9f,
                        -104.1f, 3.4e38f, -3.4e38f, HWY_NAMESPACE::kAll, -HWY_NAMESPACE::kAll, std::nanf("")}) {
    out.push_back(x);
  }
  return out;
}

// Calls `check` once per instruction set of this machine that kernels are built for.
template <class F>
void for_each_target(F&& check) {
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

void measure(const Measured& m, const std::vector<float>& values) {
  std::vector<float> inputs;
  for (const float x : values) {
    if (std::isnan(x) || (x >= m.low && x <= m.high)) inputs.push_back(x);
  }
  std::vector<float> results(inputs.size());
  m.run(inputs.data(), results.data(), inputs.size());
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double error = ulps(results[i], m.exact(static_cast<double>(inputs[i])));
    if (error > worst) worst = error, at = i;
  }
  EXPECT_LE(worst, m.ulp) << m.name << "(" << inputs[at] << ") is " << results[at];
  testing::Test::RecordProperty(m.name, std::to_string(worst));
}

TEST(Math, FloatFunctionsAreAccurate) {
  const std::vector<float> values = sample();
  for_each_target([&] {
    for (const Measured& m : HWY_DYNAMIC_DISPATCH(measured)()) measure(m, values);
  });
}

TEST(Math, ZerosKeepTheirSign) {
  for (const Measured& m : HWY_DYNAMIC_DISPATCH(measured)()) {
    const float x = -0.0f;
    float result = 1;
    m.run(&x, &result, 1);
    const double exact = m.exact(-0.0);
    if (exact == 0) {
      EXPECT_EQ(std::signbit(result), std::signbit(exact)) << m.name;
    }
  }
}

HWY_EXPORT(binaries);

TEST(Math, PowersAnglesAndRemaindersAgreeWithTheLibraryAtEveryEdge) {
  const float inf = HWY_NAMESPACE::kAll;
  const float edges[] = {0.0f, -0.0f,  1,       -1,    inf,    -inf,       std::nanf(""), 0.5f,        -0.5f, 2, -2, 3,
                         -3,   1e-40f, -1e-40f, 1e30f, -1e30f, 1.0000001f, 0.99999994f,   16777217.0f, -7.25f};
  for_each_target([&] {
    const auto [pow, atan2, fmod] = HWY_DYNAMIC_DISPATCH(binaries)();
    for (const float x : edges) {
      for (const float y : edges) {
        const auto wide_x = static_cast<double>(x), wide_y = static_cast<double>(y);
        EXPECT_LE(ulps(pow(x, y), std::pow(wide_x, wide_y)), 0.51) << x << " ^ " << y;
        EXPECT_LE(ulps(atan2(x, y), std::atan2(wide_x, wide_y)), 0.51) << x << ", " << y;
        EXPECT_EQ(ulps(fmod(x, y), std::fmod(wide_x, wide_y)), 0) << x << " % " << y;
      }
    }
  });
}

}  // namespace
}  // namespace npu::ops
#endif
