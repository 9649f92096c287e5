// SPDX-License-Identifier: Apache-2.0
#include "device/process/soc.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "device/device_fixture.h"

namespace npu::device {
namespace {

TEST(Soc, DefaultIsTheFirstProfile) {
  EXPECT_EQ(std::string_view(soc_profiles().front().name), "Ascend910B1");
  EXPECT_EQ(soc_profiles().front().ai_cores, 24u);
}

TEST(Soc, DevicesAreChecked) {
  check_device(0);
  check_device(device_count() - 1);
  EXPECT_ERROR(check_device(device_count()), Code::kRtInvalidDevice, "devices 0 to");
  EXPECT_ERROR(check_device(-1), Code::kRtInvalidDevice, "device -1 does not exist");
}

TEST(Soc, VisibleDevicesEndAtTheFirstBadEntry) {
  EXPECT_EQ(detail::visible_numbers("0,3", 8), (std::vector{0, 3}));
  EXPECT_EQ(detail::visible_numbers("7", 8), std::vector{7});
  EXPECT_EQ(detail::visible_numbers("0,8,1", 8), std::vector{0});
  EXPECT_EQ(detail::visible_numbers("2,2", 8), std::vector{2});
  EXPECT_EQ(detail::visible_numbers("1,x", 8), std::vector{1});
  EXPECT_TRUE(detail::visible_numbers("-1", 8).empty());
}

}  // namespace
}  // namespace npu::device
