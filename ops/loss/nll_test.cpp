// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

struct Nll : testing::Test {
  std::vector<float> scores{-1, -2, -3, -4, -5, -6};  // 2 samples, 3 classes
  std::vector<int64_t> labels{2, 0};
  std::vector<float> loss{9, 9}, total{9}, gradient = std::vector<float>(6, 9.0f), one{1};
  Tensor self = make_tensor(scores.data(), DType::kFloat, {2, 3});
  Tensor target = make_tensor(labels.data(), DType::kInt64, {2});

  Call forward(int64_t reduction) {
    Call call("nll_loss");
    call.set("self", self).set("target", target).set("reduction", reduction);
    call.set("total_weight", make_tensor(total.data(), DType::kFloat, {}));
    call.set("out", make_tensor(loss.data(), DType::kFloat, reduction == 0 ? Dims{2} : Dims{}));
    return call;
  }
  Call backward() {
    Call call("nll_loss_backward");
    call.set("self", self).set("target", target).set("grad_output", make_tensor(one.data(), DType::kFloat, {}));
    call.set("total_weight", make_tensor(total.data(), DType::kFloat, {}));
    call.set("grad_input", make_tensor(gradient.data(), DType::kFloat, {2, 3}));
    return call;
  }
};

TEST_F(Nll, MeanAndItsGradient) {
  forward(1).run();
  EXPECT_EQ(loss[0], 3.5f);
  EXPECT_EQ(total[0], 2);
  backward().run();
  EXPECT_EQ(gradient, (std::vector<float>{0, 0, -0.5f, -0.5f, 0, 0}));
}

TEST_F(Nll, IgnoredSamplesDoNotCount) {
  labels[1] = -100;
  forward(1).run();
  EXPECT_EQ(loss[0], 3);
  EXPECT_EQ(total[0], 1);
}

TEST_F(Nll, TargetsOutsideTheClassesGiveNanAndNoGradient) {
  for (const int64_t bad : {int64_t{3}, int64_t{-1}, int64_t{1} << 62}) {
    labels[1] = bad;
    forward(0).run();
    EXPECT_EQ(loss[0], 3);
    EXPECT_TRUE(std::isnan(loss[1]));
    total[0] = 1;
    backward().run();
    EXPECT_EQ(gradient, (std::vector<float>{0, 0, -1, 0, 0, 0}));
  }
}

TEST_F(Nll, RefusesWhatDoesNotFit) {
  target = make_tensor(labels.data(), DType::kInt64, {1});
  EXPECT_THROW(forward(1).prepare(), Error);
  target = make_tensor(scores.data(), DType::kFloat, {2});
  EXPECT_THROW(forward(1).prepare(), Error);
  target = make_tensor(labels.data(), DType::kInt64, {2});
  EXPECT_THROW(forward(3).prepare(), Error);
  EXPECT_THROW(forward(1).set("weight", make_tensor(one.data(), DType::kFloat, {1})).prepare(), Error);
}

}  // namespace
}  // namespace npu::ops
