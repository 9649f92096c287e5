// SPDX-License-Identifier: Apache-2.0
#include "device/context/state.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/context/context.h"
#include "device/device_fixture.h"

namespace npu::device {
namespace {

TEST(State, OverflowMode) {
  EXPECT_EQ(overflow_mode(0), OverflowMode::kInfNan);
  set_overflow_mode(0, 0);
  EXPECT_EQ(overflow_mode(0), OverflowMode::kSaturate);
  EXPECT_TRUE(saturates(0));
  EXPECT_FALSE(saturates(1));
  EXPECT_EQ(overflow_mode(1), OverflowMode::kInfNan);
  set_overflow_mode(0, 1);
  EXPECT_ERROR(set_overflow_mode(0, 2), Code::kRtParamInvalid, "overflow mode 2");
}

TEST(State, ContextOptionsGoBeforeThoseOfTheProcess) {
  std::thread([] { EXPECT_EQ(system_option(0), 0); }).join();
  set_system_option(0, 3);
  set_device(2);
  EXPECT_EQ(system_option(0), 3);
  set_context_system_option(0, 4);
  EXPECT_EQ(system_option(0), 4);
  set_device(0);
  EXPECT_EQ(system_option(0), 3);
  set_system_option(0, 0);
  EXPECT_ERROR(set_system_option(-1, 0), Code::kRtParamInvalid, "option -1");
}

}  // namespace
}  // namespace npu::device
