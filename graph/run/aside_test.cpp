// SPDX-License-Identifier: Apache-2.0
#include "graph/run/aside.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace npu::graph {
namespace {

TEST(Aside, WorkOfAGroupIsDoneInItsOrder) {
  std::vector<int> seen;  // by one thread
  std::shared_ptr<Aside> last;
  for (int i = 0; i < 1000; ++i) last = hand_over("order", [&seen, i] { seen.push_back(i); });
  last->join();
  ASSERT_EQ(seen.size(), 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(Aside, GroupsDoNotWaitForEachOther) {
  std::atomic<bool> came = false;
  const auto waits = hand_over("one", [&] { came.wait(false); });
  const auto comes = hand_over("another", [&] { came = true, came.notify_all(); });
  comes->join();
  waits->join();
  EXPECT_GT(waits->busy_ns(), 0);
}

TEST(Aside, AFaultReachesWhoJoinsOnce) {
  const auto fails = hand_over("fault", [] { throw std::runtime_error("lost"); });
  const auto after = hand_over("fault", [] {});
  fails->wait();
  EXPECT_THROW(fails->join(), std::runtime_error);
  EXPECT_NO_THROW(fails->join());
  EXPECT_NO_THROW(after->join());
}

TEST(Aside, SettlingWaitsForAllOfAGroup) {
  settle("nobody has handed over anything for this one");
  std::atomic<int> done = 0;
  for (int i = 0; i < 20; ++i) hand_over("settled", [&] { ++done; });
  settle("settled");
  EXPECT_EQ(done, 20);
}

}  // namespace
}  // namespace npu::graph
