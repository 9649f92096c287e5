// SPDX-License-Identifier: Apache-2.0
#include "device/memory/capacity.h"

#include <gtest/gtest.h>

#include "device/process/soc.h"

namespace npu::device {
namespace {

TEST(Capacity, ReadsSizes) {
  EXPECT_EQ(parse_size("256M"), size_t{256} << 20);
  EXPECT_EQ(parse_size("4G"), size_t{4} << 30);
  EXPECT_EQ(parse_size("1.5GiB"), size_t{3} << 29);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("64kb"), 65536u);
  for (const char* bad : {"", "G", "-1G", "4X", "4GG", "0", "nan", "1e30G"}) EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(Capacity, StaysBelowTheMachine) {
  EXPECT_GT(machine_memory(), uint64_t{1} << 28);
  EXPECT_LE(device_capacity(), machine_memory());
}

}  // namespace
}  // namespace npu::device
