// SPDX-License-Identifier: Apache-2.0
#include "comm/core/gradient_split.h"

#include <gtest/gtest.h>

#include "comm/core/fault.h"

namespace npu::comm {
namespace {

constexpr char kGroup[] = "segments";

class GradientSplit : public ::testing::Test {
 protected:
  ~GradientSplit() override { detail::forget_splits(); }
};

struct Case {
  std::vector<uint32_t> last;
  std::vector<double> percent;
  std::vector<int64_t> bytes;
  const char* segments;  ///< worked out by hand
};

std::vector<int64_t> equal(size_t count) { return std::vector<int64_t>(count, 4); }

TEST_F(GradientSplit, SegmentsAreThoseWorkedOutByHand) {
  const Case cases[] = {
      // The guide's: 160 gradients in three.
      {{20, 100, 159}, {}, equal(160), "[0,20] [21,100] [101,159]"},
      {{20, 100}, {}, equal(160), "[0,20] [21,100] [101,159]"},
      // Numbers that no gradient has.
      {{20, 100, 159}, {}, equal(101), "[0,20] [21,100]"},
      {{20, 100, 159}, {}, equal(21), "[0,20]"},
      {{0}, {}, equal(3), "[0,0] [1,2]"},
      // The guide's: 150 M as 90, 30 and 30.
      {{}, {60, 20, 20}, {90, 30, 30}, "[0,0] [1,1] [2,2]"},
      {{}, {60, 20, 20}, {30, 30, 30, 30, 30}, "[0,2] [3,3] [4,4]"},
      // Ends at 40, 80 and 100 of 100: 50 lies nearer to 40 than to 80, 60 as far from either.
      {{}, {50, 50}, {40, 40, 20}, "[0,0] [1,2]"},
      {{}, {60, 40}, {40, 40, 20}, "[0,0] [1,2]"},
      {{}, {61, 39}, {40, 40, 20}, "[0,1] [2,2]"},
      // Shares smaller than a gradient: none of the segments is empty, and there are only as many as gradients.
      {{}, {1, 1, 98}, {50, 30, 20}, "[0,0] [1,1] [2,2]"},
      {{}, {1, 1, 1, 97}, {50, 50}, "[0,0] [1,1]"},
      {{}, {0, 100}, {50, 50}, "[0,1]"},
      {{}, {100}, equal(7), "[0,6]"},
      // The default: 96.54 % of 1000 is 965.4.
      {{}, {}, {900, 60, 12, 28}, "[0,1] [2,3]"},
      {{}, {}, {900, 60, 6, 34}, "[0,2] [3,3]"},
      {{}, {}, equal(160), "[0,153] [154,159]"},  // 154.46 gradients
      {{}, {}, {10, 10}, "[0,1]"},                // 100 % lies nearer than 50 %
      {{}, {}, {7}, "[0,0]"},
      // Shares of the bytes win.
      {{0, 1, 2}, {75, 25}, equal(4), "[0,2] [3,3]"},
  };
  for (const Case& each : cases) {
    detail::forget_splits();
    if (!each.last.empty()) split_by_index(kGroup, each.last);
    if (!each.percent.empty()) split_by_size(kGroup, each.percent);
    EXPECT_EQ(to_string(segments(kGroup, each.bytes)), each.segments);
  }
}

TEST_F(GradientSplit, AGroupHasItsOwn) {
  const std::string before = said_of_splits();
  split_by_index(kGroup, std::vector<uint32_t>{1});
  EXPECT_EQ(to_string(segments(kGroup, equal(4))), "[0,1] [2,3]");
  EXPECT_EQ(to_string(segments("another", equal(4))), "[0,3]");
  EXPECT_NE(said_of_splits(), before);  // what is kept for later processes goes by it
  EXPECT_TRUE(segments(kGroup, {}).empty());
}

std::string refusal(const std::vector<uint32_t>& last) {
  try {
    split_by_index(kGroup, last);
  } catch (const Fault& fault) {
    return fault.message();
  }
  return "";
}
std::string refusal(const std::vector<double>& percent) {
  try {
    split_by_size(kGroup, percent);
  } catch (const Fault& fault) {
    return fault.message();
  }
  return "";
}

TEST_F(GradientSplit, WhatIsNoSplitIsRefused) {
  EXPECT_EQ(refusal(std::vector<uint32_t>{}), "EI0003: the list of gradients has 0 entries; there are 1 to 8 segments");
  EXPECT_EQ(refusal(std::vector<uint32_t>(9)),
            "EI0003: the list of gradients has 9 entries; there are 1 to 8 segments");
  EXPECT_EQ(refusal(std::vector<uint32_t>{3, 3}),
            "EI0003: gradient 3 comes after 3; the last gradients of segments ascend");
  EXPECT_EQ(refusal(std::vector<double>{60, 30}), "EI0003: the percentages are 90 together; they are 100");
  EXPECT_EQ(refusal(std::vector<double>{-1, 101}), "EI0003: a segment of -1 %; percentages are 0 or more");
  EXPECT_EQ(refusal(std::vector<double>(9, 100.0 / 9)),
            "EI0003: the list of percentages has 9 entries; there are 1 to 8 segments");
  EXPECT_EQ(refusal(std::vector<double>{33.3, 33.3, 33.4}), "");
  EXPECT_EQ(to_string(segments(kGroup, equal(3))), "[0,0] [1,1] [2,2]");
}

}  // namespace
}  // namespace npu::comm
