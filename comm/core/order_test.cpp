// SPDX-License-Identifier: Apache-2.0
#include "comm/core/order.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <thread>

namespace npu::comm {
namespace {

using Lines = std::initializer_list<std::pair<const char*, const char*>>;

Order made(Lines lines, const char* function = "step") {
  Order order(function);
  for (const auto& [what, shape] : lines) order.add(what, shape);
  return order;
}

std::string difference(const Lines& one, const Lines& other) {
  const auto found = order_difference(made(one, "step").text(), made(other, "other").text());
  return found ? found->function + " #" + std::to_string(found->place) + ": " + found->one + " | " + found->other : "";
}

TEST(Order, NamesTheFirstDifference) {
  EXPECT_EQ(difference({{"sum", "[4]"}, {"max", "[3]"}}, {{"sum", "[4]"}, {"max", "[3]"}}), "");
  EXPECT_EQ(difference({{"sum", "[4]"}, {"max", "[3]"}}, {{"sum", "[4]"}, {"min", "[3]"}}), "step #2: max[3] | min[3]");
  EXPECT_EQ(difference({{"sum", "[4]"}}, {{"sum", "[5]"}}), "step #1: sum[4] | sum[5]");
  EXPECT_EQ(difference({{"sum", "[4]"}}, {{"sum", "[4, 1]"}}), "step #1: sum[4] | sum[4, 1]");
  EXPECT_EQ(difference({{"sum", "[4, 1]"}}, {{"sum", "[4]"}}), "step #1: sum[4, 1] | sum[4]");
  EXPECT_EQ(difference({{"sum", "[4]"}, {"max", ""}}, {{"sum", "[4]"}}), "step #2: max | none any more");
  EXPECT_EQ(difference({}, {{"sum", "[]"}}), "step #1: none any more | sum[]");
}

TEST(Order, SizesThatOneDoesNotKnowFitAny) {
  EXPECT_EQ(difference({{"sum", "[?, 3]"}}, {{"sum", "[4, 3]"}}), "");
  EXPECT_EQ(difference({{"sum", "[2, 3]"}}, {{"sum", "[2, ?]"}}), "");
  EXPECT_EQ(difference({{"sum", "?"}}, {{"sum", "[2, 3]"}}), "");
  EXPECT_EQ(difference({{"sum", "[2, 3]"}}, {{"sum", "?"}}), "");
  EXPECT_EQ(difference({{"sum", "[?, 3]"}}, {{"sum", "[4, 5]"}}), "step #1: sum[?, 3] | sum[4, 5]");
}

TEST(Order, WhatHasNoRoomIsNotCompared) {
  Order one("step"), other("step");
  for (int i = 0; i < 5000; ++i) one.add("sum", "[4, 4]"), other.add("sum", i < 4999 ? "[4, 4]" : "[9]");
  EXPECT_LE(one.text().size(), Order::kMostBytes);
  EXPECT_FALSE(order_difference(one.text(), other.text()));
}

TEST(Order, IsShownOnceInEachGroup) {
  EXPECT_EQ(Announcement::take("world"), nullptr);
  {
    const Announcement outer({{"world", made({{"sum", ""}})}, {"part", made({})}});
    EXPECT_EQ(Announcement::take("other"), nullptr);
    ASSERT_NE(Announcement::take("world"), nullptr);
    EXPECT_EQ(Announcement::take("world"), nullptr);
    {
      const Announcement inner({{"world", made({})}});
      EXPECT_EQ(Announcement::take("part"), nullptr) << "it is the function outside that comes there";
      EXPECT_NE(Announcement::take("world"), nullptr);
    }
    EXPECT_NE(Announcement::take("part"), nullptr);
  }
  EXPECT_EQ(Announcement::take("part"), nullptr);
}

TEST(Order, IsShownByAThreadThatStandsInForAnother) {
  const Announcement announcement({{"world", made({{"sum", ""}})}});
  std::jthread([] { EXPECT_EQ(Announcement::take("world"), nullptr); }).join();
  std::jthread([of = Announcement::current()] {
    {
      const Announcement::Elsewhere elsewhere(of);
      EXPECT_NE(Announcement::take("world"), nullptr);
    }
    EXPECT_EQ(Announcement::current(), nullptr);
  }).join();
  EXPECT_EQ(Announcement::take("world"), nullptr) << "it was shown";
}

}  // namespace
}  // namespace npu::comm
