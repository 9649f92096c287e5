// SPDX-License-Identifier: Apache-2.0
#include "device/process/soc.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "device/device_fixture.h"
#include "device/process/soc_fixture.h"

namespace npu::device {
namespace {

TEST(Soc, DefaultIsTheFirstProfile) {
  EXPECT_EQ(std::string_view(soc_profiles().front().name), "Ascend910B1");
  EXPECT_EQ(soc_profiles().front().ai_cores, 24u);
}

TEST(Soc, EachLineOfTheTableIsAProfile) {
  ASSERT_EQ(soc_profiles().size(), 6u);
  for (const Soc& each : soc_profiles()) {
    EXPECT_TRUE(std::string_view(each.name).starts_with("Ascend")) << each.name;
    EXPECT_TRUE(std::string_view(each.family).starts_with("ascend")) << each.name;
    EXPECT_TRUE(each.generation == 1 || each.generation == 2) << each.name;
    EXPECT_GE(each.vector_cores, each.ai_cores) << each.name;
    EXPECT_GE(each.memory_bytes, uint64_t{24} << 30) << each.name;
    EXPECT_GT(each.l2_bytes, 0u) << each.name;
    // What a collective multiplies or compares it sums, too, and what it sums it moves.
    const CollectiveLimits& takes = each.collective;
    EXPECT_EQ((takes.no_product | takes.no_extreme) & ~takes.reduces, 0u) << each.name;
    EXPECT_EQ(takes.reduces & ~takes.moves, 0u) << each.name;
    EXPECT_EQ(takes.moves & each.lacks, 0u) << each.name;
  }
}

TEST(Soc, TheFirstGenerationSaturatesAndHasNoBfloat16) {
  for (const char* name : {"Ascend910A", "Ascend310P3"}) {
    EXPECT_EQ(profile_named(name).generation, 1);
    EXPECT_FALSE(profile_named(name).inf_nan);
    EXPECT_FALSE(profile_named(name).has(DType::kBFloat16));
    EXPECT_TRUE(profile_named(name).has(DType::kHalf));
  }
  EXPECT_TRUE(profile_named("Ascend910B4").has(DType::kBFloat16));
  EXPECT_TRUE(profile_named("Ascend910A").has(DType::kUndefined));
  EXPECT_EQ(std::string_view(profile_named("Ascend910A").precision_mode), "allow_fp32_to_fp16");
  EXPECT_EQ(profile_named("Ascend910A").collective.ranks_per_host, 0x116u);
}

TEST(Soc, TestsMayOverrideIt) {
  const std::string_view before = soc().name;
  {
    const OnSoc other("Ascend310P3");
    EXPECT_EQ(std::string_view(soc().name), "Ascend310P3");
  }
  EXPECT_EQ(soc().name, before);
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
