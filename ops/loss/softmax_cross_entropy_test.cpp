// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/half.h"
#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

constexpr int64_t kRows = 5, kClasses = 37;

struct SoftmaxCrossEntropy : testing::Test {
  std::vector<float> logits, labels, loss = std::vector<float>(kRows, 9),
                                     gradient = std::vector<float>(kRows * kClasses);
  std::vector<int32_t> target{1, 0, 36, 7, 20};

  void SetUp() override {
    for (int64_t i = 0; i < kRows * kClasses; ++i) {
      logits.push_back(std::sin(static_cast<float>(i)) * 9);
      labels.push_back((1 + std::cos(static_cast<float>(i))) / kClasses);
    }
  }
  Tensor matrix(std::vector<float>& v) { return make_tensor(v.data(), DType::kFloat, {kRows, kClasses}); }
  Tensor column(std::vector<float>& v) { return make_tensor(v.data(), DType::kFloat, {kRows}); }
  Call call() {
    Call made("softmax_cross_entropy");
    made.set("self", matrix(logits)).set("out", column(loss)).set("grad_input", matrix(gradient));
    return made;
  }
  Call sparse() {
    Call made = call();
    made.set("target", make_tensor(target.data(), DType::kInt32, {kRows}));
    return made;
  }
  void expect(bool dense) const {
    for (int64_t r = 0; r < kRows; ++r) {
      const auto at = [&](const std::vector<float>& v, int64_t c) { return double(v[size_t(r * kClasses + c)]); };
      const auto label = [&](int64_t c) { return dense ? at(labels, c) : c == target[size_t(r)] ? 1.0 : 0.0; };
      double sum = 0, wanted = 0;
      for (int64_t c = 0; c < kClasses; ++c) sum += std::exp(at(logits, c));
      for (int64_t c = 0; c < kClasses; ++c) wanted += label(c) * (std::log(sum) - at(logits, c));
      EXPECT_NEAR(loss[size_t(r)], wanted, 2e-6 * (1 + wanted));
      for (int64_t c = 0; c < kClasses; ++c) {
        const double slope = std::exp(at(logits, c)) / sum - label(c);
        ASSERT_NEAR(at(gradient, c), slope, 1e-6) << r << " " << c;
      }
    }
  }
};

TEST_F(SoftmaxCrossEntropy, AgainstOneClass) {
  sparse().run();
  expect(false);
}

TEST_F(SoftmaxCrossEntropy, AgainstProbabilities) {
  call().set("labels", matrix(labels)).run();
  expect(true);
}

TEST_F(SoftmaxCrossEntropy, TheGradientMayTakeThePlaceOfLogitsOrLabels) {
  std::vector<float> saved = logits;
  sparse().set("grad_input", matrix(logits)).run();
  gradient.swap(logits), logits = saved;
  expect(false);
  saved = labels;
  call().set("labels", matrix(labels)).set("grad_input", matrix(labels)).run();
  gradient.swap(labels), labels = saved;
  expect(true);
}

TEST_F(SoftmaxCrossEntropy, HalvesAreRoundedOnce) {
  std::vector<Half> x, g(logits.size());
  for (float& v : logits) x.emplace_back(v), v = x.back();
  sparse().run();
  sparse()
      .set("self", make_tensor(x.data(), DType::kHalf, {kRows, kClasses}))
      .set("grad_input", make_tensor(g.data(), DType::kHalf, {kRows, kClasses}))
      .run();
  for (size_t i = 0; i < g.size(); ++i) ASSERT_EQ(g[i].bits, Half(gradient[i]).bits);
}

TEST_F(SoftmaxCrossEntropy, InfinitiesAndNaNStayInTheirRow) {
  logits[0] = -INFINITY, logits[kClasses] = NAN, logits[2 * kClasses + 3] = INFINITY;
  sparse().run();
  EXPECT_TRUE(std::isfinite(loss[0]) && gradient[0] == 0);
  EXPECT_TRUE(std::isnan(loss[1]) && std::isnan(gradient[kClasses + 5]));
  EXPECT_TRUE(std::isnan(loss[2]));
  EXPECT_TRUE(std::isfinite(loss[3]));
}

TEST_F(SoftmaxCrossEntropy, ALabelThatIsNoClassIsNamedBeforeAnythingIsWritten) {
  target[1] = kClasses;
  Call made = sparse();
  made.prepare();
  try {
    made.compute();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("label value of 37 which is outside the valid range of [0, 37)"), std::string::npos);
    EXPECT_NE(e.message().find("Label values: 1 37 36"), std::string::npos);
  }
  EXPECT_EQ(loss[0], 9);
}

TEST_F(SoftmaxCrossEntropy, RefusesShapesThatDisagree) {
  EXPECT_NE(call().set("target", make_tensor(target.data(), DType::kInt32, {1})).refusal(), "");
  EXPECT_NE(call().refusal(), "") << "neither a class nor probabilities";
  EXPECT_NE(sparse().set("labels", matrix(labels)).refusal(), "");
  EXPECT_NE(sparse().set("out", matrix(labels)).refusal(), "");
}

}  // namespace
}  // namespace npu::ops
