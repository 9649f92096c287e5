// SPDX-License-Identifier: Apache-2.0
#include "device/queue/task.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace npu::device {
namespace {

TEST(TaskBody, HoldsSmallAndLargeCallables) {
  auto counter = std::make_shared<int>(0);
  TaskBody small([counter] { ++*counter; });
  TaskBody large([counter, bulk = std::array<char, 500>{}] { *counter += 1 + bulk[3]; });
  TaskBody moved = std::move(small);
  EXPECT_FALSE(small);  // NOLINT: moved-from bodies are empty by contract
  moved();
  TaskBody other = std::move(large);
  other();
  EXPECT_EQ(*counter, 2);
  moved = std::move(other);
  moved();
  moved.reset();
  EXPECT_EQ(*counter, 3);
  EXPECT_EQ(counter.use_count(), 1) << "bodies destroy what they captured";
}

TEST(TaskBody, TakesMoveOnlyCallables) {
  int got = 0;
  TaskBody body([value = std::make_unique<int>(7), &got] { got = *value; });
  TaskBody moved = std::move(body);
  moved();
  EXPECT_EQ(got, 7);
}

}  // namespace
}  // namespace npu::device
