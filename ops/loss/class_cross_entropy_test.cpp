// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ops/test_call.h"

namespace npu::ops {
namespace {

struct ClassCrossEntropy : testing::Test {
  std::vector<float> logs{std::log(0.25f), std::log(0.75f), std::log(0.5f), std::log(0.5f)};
  std::vector<float> gradient{0.25f, 0.75f, 0.5f, 0.5f}, loss{9, 9};
  std::vector<int32_t> labels{1, 0};

  Call call() {
    Call made("class_cross_entropy");
    made.set("self", make_tensor(logs.data(), DType::kFloat, {2, 2}));
    made.set("target", make_tensor(labels.data(), DType::kInt32, {2}));
    made.set("out", make_tensor(loss.data(), DType::kFloat, {2}));
    made.set("grad_input", make_tensor(gradient.data(), DType::kFloat, {2, 2}));
    return made;
  }
};

TEST_F(ClassCrossEntropy, LossAndGradientOfEachRow) {
  call().run();
  EXPECT_FLOAT_EQ(loss[0], -std::log(0.75f));
  EXPECT_FLOAT_EQ(loss[1], std::log(2.0f));
  const std::vector<float> expected{0.25f, -0.25f, -0.5f, 0.5f};
  for (size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(gradient[i], expected[i]);
}

TEST_F(ClassCrossEntropy, ALabelThatIsNoClassIsNamedBeforeAnythingIsWritten) {
  labels[1] = 2;
  Call made = call();
  made.prepare();
  try {
    made.compute();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("label value of 2 which is outside the valid range of [0, 2)"), std::string::npos);
    EXPECT_NE(e.message().find("Label values: 1 2"), std::string::npos);
  }
  EXPECT_EQ(loss[0], 9);
}

TEST_F(ClassCrossEntropy, RefusesShapesThatDisagree) {
  EXPECT_NE(call().set("target", make_tensor(labels.data(), DType::kInt32, {1})).refusal(), "");
}

}  // namespace
}  // namespace npu::ops
