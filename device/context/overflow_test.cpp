// SPDX-License-Identifier: Apache-2.0
#include "device/context/overflow.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace npu::device {
namespace {

Overflow found(int64_t step) {
  Overflow o;
  o.device = 1;
  o.step = step;
  o.function = "train_step";
  o.node = "scale";
  o.type = "Mul";
  o.output = "out";
  o.dtype = DType::kHalf;
  o.shape = {2, 3};
  o.least = -1;
  o.most = 60000;
  o.infinities = 2;
  o.nans = 1;
  o.saturated = 2;
  return o;
}

TEST(Overflow, TheWordStaysSetAndIsRaisedOnce) {
  const int64_t before = overflow_step(1);
  clear_overflow(1);
  EXPECT_EQ(overflow_word(1), 0u);
  EXPECT_TRUE(raise_overflow(1));
  EXPECT_FALSE(raise_overflow(1));
  EXPECT_EQ(overflow_word(1), 1u);
  EXPECT_EQ(overflow_word(0), 0u) << "each device has a word of its own";
  clear_overflow(1);
  EXPECT_EQ(overflow_word(1), 0u);
  EXPECT_EQ(overflow_step(1), before + 2);
  EXPECT_TRUE(raise_overflow(1));
  clear_overflow(1);
}

TEST(Overflow, WhatIsToldIsRememberedAndWatched) {
  int64_t seen = 0;
  watch_overflows([&](const Overflow& o) { seen = o.step; });
  const auto more = static_cast<int64_t>(kMostOverflows) + 5;
  for (int64_t step = 1; step <= more; ++step) tell_overflow(found(step));
  watch_overflows({});
  tell_overflow(found(more + 1));
  EXPECT_EQ(seen, more);
  const std::vector<Overflow> kept = overflows(1);
  ASSERT_EQ(kept.size(), kMostOverflows);
  EXPECT_EQ(kept.front().step, 7);
  EXPECT_EQ(kept.back().step, more + 1);
  EXPECT_TRUE(overflows(0).empty());
}

TEST(Overflow, InWords) {
  EXPECT_EQ(to_string(found(3)),
            "Mul node 'scale' of train_step overflowed in step 3: output out float16[2x3], 2 infinities, 1 NaN, 2 of 6 "
            "elements saturated, finite ones in [-1, 60000]");
}

TEST(Overflow, DevicesThatAreNotThere) {
  EXPECT_THROW(overflow_word(-1), Error);
  EXPECT_THROW(clear_overflow(1000), Error);
}

}  // namespace
}  // namespace npu::device
