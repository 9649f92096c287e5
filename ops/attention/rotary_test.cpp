// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

TEST(RotaryGrad, GradientsMayLieWhereTheInputsDo) {
  const Dims shape{2, 3, 4, 8}, angles{1, 1, 4, 8};
  struct Set {
    Array grad, cos, sin;
  };
  const auto inputs = [&] {
    return Set{Array(DType::kFloat, shape).random(1), Array(DType::kFloat, angles).random(2),
               Array(DType::kFloat, angles).random(3)};
  };
  const Array x = Array(DType::kFloat, shape).random(4);
  const auto run = [&](const Set& in, const Set& out) {
    Call call("rotary_grad");
    call.set("grad", in.grad.tensor()).set("cos", in.cos.tensor()).set("sin", in.sin.tensor()).set("x", x.tensor());
    call.set("grad_x", out.grad.tensor()).set("grad_cos", out.cos.tensor()).set("grad_sin", out.sin.tensor()).run();
  };
  const Set apart = inputs(), results = inputs(), same = inputs();
  run(apart, results);
  run(same, same);
  EXPECT_EQ(same.grad.values(), results.grad.values());
  EXPECT_EQ(same.cos.values(), results.cos.values());
  EXPECT_EQ(same.sin.values(), results.sin.values());
}

}  // namespace
}  // namespace npu::ops
