// SPDX-License-Identifier: Apache-2.0
#include "base/division.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

TEST(Division, RoundsUp) {
  EXPECT_EQ(divide_up(0, 4), 0);
  EXPECT_EQ(divide_up(8, 4), 2);
  EXPECT_EQ(divide_up(9, 4), 3);
  EXPECT_EQ(divide_up(9, INT64_MAX), 1);
  EXPECT_EQ(round_up(9, 4), 12);
  EXPECT_EQ(round_up(12, 4), 12);
}

TEST(Division, EvenPartsArePowersOfTwoAndNotTooSmall) {
  EXPECT_EQ(even_parts(16, 1000, 16), 16);
  EXPECT_EQ(even_parts(15, 1000, 16), 8);
  EXPECT_EQ(even_parts(16, 64, 16), 4);
  EXPECT_EQ(even_parts(16, 63, 16), 2);
  EXPECT_EQ(even_parts(16, 3, 16), 1);
  EXPECT_EQ(even_parts(0, 1000, 1), 1);
}

}  // namespace
}  // namespace npu
