// SPDX-License-Identifier: Apache-2.0
// Guarded quotients, gradients of roots, the gamma functions and the checks of elements.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

using Floats = std::vector<float>;
const float kNan = std::nanf(""), kInf = std::numeric_limits<float>::infinity();

template <class T>
Tensor tensor(std::vector<T>& data) {
  return make_tensor(data.data(), dtype_of<T>, {static_cast<int64_t>(data.size())});
}

template <class T>
std::vector<T> computed(std::string_view op, std::string_view a, std::vector<T> x, std::string_view b = "",
                        std::vector<T> y = {}) {
  std::vector<T> out(x.size());
  Call call(op);
  call.set(a, Operand{tensor(x), {}}).set("out", tensor(out));
  if (!b.empty()) call.set(b, Operand{tensor(y), {}});
  call.run();
  return out;
}

Floats binary(std::string_view op, Floats x, Floats y) {
  return computed(op, "self", std::move(x), "other", std::move(y));
}

TEST(Guarded, AZeroWinsOverWhatItMeets) {
  EXPECT_EQ(binary("div_no_nan", {1, 0, kNan, 6}, {0, 0, 0, 2}), (Floats{0, 0, 0, 3}));
  EXPECT_EQ(binary("mul_no_nan", {kNan, kInf, 2}, {0, 0, 3}), (Floats{0, 0, 6}));
  EXPECT_EQ(binary("zero_or_div", {0, 0, 6}, {0, kNan, 3}), (Floats{0, 0, 2}));
  EXPECT_EQ(binary("zero_or_log", {0, 0, 2}, {0, kNan, 1}), (Floats{0, 0, 0}));
  EXPECT_EQ(binary("zero_or_log1p", {0, 0, 2}, {-1, kNan, 0}), (Floats{0, 0, 0}));
  EXPECT_EQ(binary("squared_difference", {1, 5}, {3, 2}), (Floats{4, 9}));
}

TEST(RootBackward, FollowsTheOutput) {
  const auto gradient = [](std::string_view op, Floats g, Floats y) {
    return computed(op, "grad_output", g, "output", y);
  };
  EXPECT_EQ(gradient("sqrt_backward", {3}, {2}), Floats{0.75f});
  EXPECT_EQ(gradient("rsqrt_backward", {3}, {2}), Floats{-12});
  EXPECT_EQ(gradient("reciprocal_backward", {3}, {2}), Floats{-12});
  for (const std::string_view op : {"sqrt_backward", "rsqrt_backward", "reciprocal_backward"})
    EXPECT_EQ(gradient(op, {0, 0, 0}, {0, kNan, kInf}), (Floats{0, 0, 0}));
  EXPECT_EQ(computed<float>("softsign", "self", {-3, 1}), (Floats{-0.75f, 0.5f}));
  EXPECT_EQ(computed<float>("softsign_backward", "grad_output", {8}, "self", {-1}), Floats{2});
}

TEST(Gamma, KnownValuesAndPoles) {
  const auto log_gamma = computed<double>("lgamma", "self", {1, 5, 0.5, -1});
  EXPECT_EQ(log_gamma[0], 0);
  EXPECT_NEAR(log_gamma[1], std::log(24.0), 1e-14);
  EXPECT_NEAR(log_gamma[2], std::log(std::sqrt(M_PI)), 1e-15);
  EXPECT_TRUE(std::isinf(log_gamma[3]));
  const auto slope = computed<double>("digamma", "self", {1, 0.5, 100, -0.5, -2});
  EXPECT_NEAR(slope[0], -0.57721566490153286, 1e-15);
  EXPECT_NEAR(slope[1], -1.9635100260214235, 1e-15);
  EXPECT_NEAR(slope[2], 4.6001618527380874, 1e-14);
  EXPECT_NEAR(slope[3], 0.03648997397857652, 1e-14);
  EXPECT_TRUE(std::isnan(slope[4]));
}

std::string raised(Call& call) {
  try {
    call.run();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Check, RaisesWhenTheElementsAreSo) {
  std::vector<int32_t> x{3, 0, -1};
  Call zeros("check_integers");
  zeros.set("self", tensor(x)).set("refuse_zero", true).set("message", std::string("no zeros"));
  EXPECT_EQ(raised(zeros), "no zeros");
  x[1] = 2;
  EXPECT_EQ(raised(zeros), "");
  Call negative("check_integers");
  negative.set("self", tensor(x)).set("refuse_negative", true).set("message", std::string("no debts"));
  EXPECT_EQ(raised(negative), "no debts");
}

TEST(Check, TellsNanFromInfinities) {
  Floats x{1, kNan};
  Call check("check_finite");
  check.set("self", tensor(x)).set("message", std::string("loss"));
  EXPECT_EQ(raised(check), "loss : Tensor had NaN values");
  x[0] = -kInf;
  EXPECT_EQ(raised(check), "loss : Tensor had Inf and NaN values");
  EXPECT_EQ(raised(check.set("signs", true)), "loss : Tensor had -Inf, and NaN values");
  x = {0, 1};
  EXPECT_EQ(raised(check), "");
}

}  // namespace
}  // namespace npu::ops
