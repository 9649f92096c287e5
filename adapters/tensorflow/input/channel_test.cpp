// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/input/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

// What is used of the library; no element of these tests holds a value.
extern "C" void anynpu_value_release(anynpu_value*) {}

namespace npu::tensorflow {
namespace {

constexpr std::chrono::seconds kLong(60);

Element element(std::string message, bool last = false) { return {{}, TF_OK, std::move(message), last}; }

/// Counts 0, 1, 2 … up to `end`; the last one has nothing in it.
Channel::Pull numbers(int end, std::atomic<int>* pulled) {
  return [end, pulled] {
    const int now = (*pulled)++;
    return now == end ? element("", true) : element(std::to_string(now));
  };
}

TEST(Channel, GivesElementsInOrderThenTheLastThenNothing) {
  std::atomic<int> pulled{0};
  const auto channel = Channel::open(4, numbers(100, &pulled));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(channel->take()->message, std::to_string(i));
  EXPECT_TRUE(channel->take()->last);
  EXPECT_FALSE(channel->take());
  EXPECT_EQ(pulled, 101);
}

TEST(Channel, PullsNoFurtherThanItsDepth) {
  std::atomic<int> pulled{0};
  const auto channel = Channel::open(3, numbers(1000, &pulled));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(channel->take()->message, std::to_string(i));
  EXPECT_LE(channel->stop(), 3u);
  EXPECT_LE(pulled, 50 + 3 + 1);
}

TEST(Channel, WhatWaitedWhenItStoppedCanStillBeTaken) {
  std::atomic<int> pulled{0};
  const auto channel = Channel::open(8, numbers(1000, &pulled));
  EXPECT_EQ(channel->take()->message, "0");
  const size_t left = channel->stop();
  for (size_t i = 1; i <= left; ++i) EXPECT_EQ(channel->take()->message, std::to_string(i));
  EXPECT_FALSE(channel->take());
}

TEST(Channel, WhatIsPulledWhileItIsAbandonedComesToNobody) {
  std::atomic<bool> pulling{false}, go_on{false};
  const auto channel = Channel::open(4, [&] {
    pulling = true;
    while (!go_on) std::this_thread::yield();
    return element("too late");
  });
  while (!pulling) std::this_thread::yield();
  channel->abandon();
  go_on = true;
  EXPECT_FALSE(channel->take());
}

TEST(Channel, AFailureComesInItsPlace) {
  std::atomic<int> pulled{0};
  const auto channel = Channel::open(4, [&] {
    const int now = pulled++;
    return now < 2 ? element(std::to_string(now)) : Element{{}, TF_INTERNAL, "broken", true};
  });
  EXPECT_EQ(channel->take()->message, "0");
  EXPECT_EQ(channel->take()->message, "1");
  EXPECT_EQ(channel->take()->code, TF_INTERNAL);
  EXPECT_FALSE(channel->take());
}

TEST(Channel, TakersShareTheElements) {
  std::atomic<int> pulled{0}, taken{0};
  const auto channel = Channel::open(16, numbers(2000, &pulled));
  std::vector<std::thread> takers;
  for (int i = 0; i < 4; ++i)
    takers.emplace_back([&] {
      while (const auto now = channel->take())
        if (!now->last) ++taken;
    });
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(taken, 2000);
}

TEST(Channel, AnOwnerWhoGoesLeavesNoThread) {
  std::atomic<int> pulled{0};
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = held;
  auto channel = Channel::open(2, [held = std::move(held), next = numbers(1 << 30, &pulled)] { return next(); });
  channel->take();
  channel->abandon();
  channel.reset();
  EXPECT_TRUE(Channel::close_all(kLong, false));
  EXPECT_TRUE(seen.expired());
}

TEST(Channel, TheEndOfTheProcessWaitsForAPullUnderWay) {
  std::atomic<bool> inside{false}, left{false};
  const auto channel = Channel::open(2, [&] {
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    left = true;
    return element("late");
  });
  while (!inside) std::this_thread::yield();
  EXPECT_TRUE(Channel::close_all(kLong, false));
  EXPECT_TRUE(left);
}

TEST(ChannelEnd, NothingIsOpenedAfterwards) {
  EXPECT_TRUE(Channel::close_all(kLong, true));
  EXPECT_EQ(Channel::open(2, [] { return element(""); }), nullptr);
}

}  // namespace
}  // namespace npu::tensorflow
