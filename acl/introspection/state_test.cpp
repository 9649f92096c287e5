// SPDX-License-Identifier: Apache-2.0
#include "anynpu/state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "device/context/context.h"

namespace npu::acl {
namespace {

TEST(State, TheConfigurationNamesSocDevicesAndMemory) {
  anynpu_configured(
      [](const anynpu_configuration* now, void*) {
        EXPECT_STREQ(now->problem, "");
        EXPECT_STREQ(now->soc, "Ascend910B1");
        EXPECT_GE(now->device_count, 1);
        EXPECT_GT(now->capacity, 0u);
        EXPECT_GE(now->machine_memory, now->capacity);
      },
      nullptr);
}

TEST(State, AProcessThatOpenedADeviceShowsUp) {
  device::set_device(0);
  int found = 0;
  anynpu_each_usage(
      [](const anynpu_usage* usage, void* context) {
        if (usage->pid == getpid()) ++*static_cast<int*>(context);
      },
      &found);
  EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace npu::acl
