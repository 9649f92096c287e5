// SPDX-License-Identifier: Apache-2.0
#include "base/split.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Split, CutsAtSeparators) {
  EXPECT_EQ(split("a", ","), (Parts{"a"}));
  EXPECT_EQ(split("a,bc,d", ","), (Parts{"a", "bc", "d"}));
  EXPECT_EQ(split("lr, beta1,x", ", "), (Parts{"lr", "beta1,x"}));
}

TEST(Split, KeepsEmptyPartsButTheLast) {
  EXPECT_EQ(split("", ","), Parts{});
  EXPECT_EQ(split(",", ","), (Parts{""}));
  EXPECT_EQ(split("a,,b,", ","), (Parts{"a", "", "b"}));
}

}  // namespace
}  // namespace npu
