// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

TEST(TokenPermute, MovesBits) {
  const Array tokens = Array(DType::kFloat, {3, 2}).filled(-0.0), indices = Array(DType::kInt64, {3, 2}).random(1);
  const Array out = Array(DType::kFloat, {6, 2}).filled(1), sorted(DType::kInt32, {6});
  Call("token_permute")
      .set("tokens", tokens.tensor())
      .set("indices", indices.tensor())
      .set("out", out.tensor())
      .set("sorted", sorted.tensor())
      .run();
  for (const double value : out.values()) EXPECT_TRUE(value == 0 && std::signbit(value));
}

}  // namespace
}  // namespace npu::ops
