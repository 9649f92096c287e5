// SPDX-License-Identifier: Apache-2.0
#include "base/tensor.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

TEST(Tensor, ContiguityIgnoresAxesOfSizeOne) {
  float data[24] = {};
  const Tensor t = make_tensor(data, DType::kFloat, Dims{2, 3, 4});
  EXPECT_TRUE(t.contiguous());
  EXPECT_FALSE(t.transposed(0, 2).contiguous());
  EXPECT_TRUE(t.view(Dims{2, 1, 12}, Dims{12, 999, 1}).contiguous());
  EXPECT_TRUE(t.view(Dims{0, 5}, Dims{7, 7}).contiguous());
}

TEST(Tensor, SpanReachesTheLastElement) {
  const Tensor t = make_tensor(nullptr, DType::kHalf, Dims{2, 3});
  EXPECT_EQ(t.span(), 6);
  EXPECT_EQ(t.view(Dims{4, 3}, Dims{0, 1}).span(), 3);
  EXPECT_EQ(t.view(Dims{4, 0}, Dims{9, 1}).span(), 0);
  EXPECT_EQ(make_tensor(nullptr, DType::kHalf, Dims{}).span(), 1);
}

TEST(Tensor, ElementsStartAtTheOffset) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  Tensor t = make_tensor(data, DType::kFloat, Dims{2});
  t.offset = 4;
  EXPECT_EQ(t.as<float>()[1], 5.0f);
}

TEST(Tensor, ExpandingRepeatsWithStrideZero) {
  const Tensor t = make_tensor(nullptr, DType::kFloat, Dims{3, 1});
  const Tensor grown = t.expanded(Dims{2, 3, 4});
  EXPECT_EQ(grown.strides, (Dims{0, 1, 0}));
  EXPECT_EQ(grown.shape, (Dims{2, 3, 4}));
}

TEST(Tensor, WhatDoesNotExpandSaysWhy) {
  const Tensor t = make_tensor(nullptr, DType::kFloat, Dims{3, 2});
  try {
    (void)t.expanded(Dims{3, 4});
    FAIL() << "expanded";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "float32[3x2] does not expand to 3x4: size 2 against 4");
  }
  EXPECT_THROW((void)t.expanded(Dims{3}), Error);
}

TEST(Tensor, PrintsAsInErrorTexts) {
  EXPECT_EQ(to_string(Tensor{}), "none");
  EXPECT_EQ(fmt::format("{}", make_tensor(nullptr, DType::kBFloat16, Dims{})), "bfloat16[scalar]");
}

}  // namespace
}  // namespace npu
