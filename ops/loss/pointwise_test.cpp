// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

Tensor row(std::vector<float>& data) { return make_tensor(data.data(), DType::kFloat, {int64_t(data.size())}); }

TEST(Loss, MeanSumAndNone) {
  std::vector<float> x{1, 2, 5}, y{1, 4, 1}, one(1), each(3);
  Call call("mse_loss");
  call.set("self", row(x)).set("target", row(y)).set("out", make_tensor(one.data(), DType::kFloat, {}));
  call.run();
  EXPECT_FLOAT_EQ(one[0], 20.0f / 3);
  call.set("reduction", int64_t{2}).run();
  EXPECT_EQ(one[0], 20);
  call.set("reduction", int64_t{0}).set("out", row(each)).run();
  EXPECT_EQ(each, (std::vector<float>{0, 4, 16}));
}

TEST(Loss, MeanOfNothingIsNan) {
  std::vector<float> none, one(1);
  Call("l1_loss")
      .set("self", row(none))
      .set("target", row(none))
      .set("out", make_tensor(one.data(), DType::kFloat, {}))
      .run();
  EXPECT_TRUE(std::isnan(one[0]));
}

TEST(Loss, GradientOfTheMeanIsShared) {
  std::vector<float> x{1, 2, 5, 0}, y{1, 4, 1, 0}, g{3}, out(4);
  Call("mse_loss_backward")
      .set("self", row(x))
      .set("target", row(y))
      .set("grad_input", row(out))
      .set("grad_output", make_tensor(g.data(), DType::kFloat, {}))
      .run();
  EXPECT_EQ(out, (std::vector<float>{0, -3, 6, 0}));
}

TEST(Loss, SumsOfManyElementsStayExact) {
  std::vector<float> x(3000000, 1.1f), y(3000000, 1.0f), one(1);
  Call("l1_loss")
      .set("self", row(x))
      .set("target", row(y))
      .set("out", make_tensor(one.data(), DType::kFloat, {}))
      .run();
  EXPECT_FLOAT_EQ(one[0], 1.1f - 1.0f);
}

TEST(Loss, RefusesWhatDoesNotFit) {
  std::vector<float> x(3), y(4), one(1);
  Call call("mse_loss");
  call.set("self", row(x)).set("target", row(y)).set("out", make_tensor(one.data(), DType::kFloat, {}));
  EXPECT_THROW(call.prepare(), Error);
  EXPECT_THROW(call.set("target", row(x)).set("out", row(y)).prepare(), Error);
  EXPECT_THROW(call.set("out", make_tensor(one.data(), DType::kFloat, {})).set("reduction", int64_t{5}).prepare(),
               Error);
}

}  // namespace
}  // namespace npu::ops
