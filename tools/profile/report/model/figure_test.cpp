// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/figure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace npu::profile {
namespace {

TEST(Figure, EachHasAUnitAKindAndASource) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Figure& one : figures()) {
    const std::string_view kind = one.kind;
    EXPECT_TRUE(kind == "stated" || (kind.starts_with("derived (") && kind.ends_with(")"))) << one.soc << ' ' << kind;
    EXPECT_GT(std::strtod(one.value, nullptr), 0) << one.soc << ' ' << one.quantity;
    EXPECT_FALSE(std::string_view(one.unit).empty() || std::string_view(one.source).size() < 10) << one.quantity;
    EXPECT_NE(words_of(one.quantity), one.quantity) << "no words for it";
    EXPECT_TRUE(seen.emplace(one.soc, one.quantity).second) << one.soc << " has two of " << one.quantity;
  }
}

TEST(Figure, OfAllSocsThatTheDeviceClaimsToBe) {
  const std::vector<std::string_view> names = chip_names();
  ASSERT_GE(names.size(), 6u);
  EXPECT_EQ(names[0], "Ascend910B1");
  for (const std::string_view soc : names) EXPECT_EQ(Chip(soc).missing().empty(), soc != "Ascend310P3") << soc;
  EXPECT_EQ(Chip("Ascend310P3").missing().front(), "vector rate of float16");  // nobody has published it
}

TEST(Figure, TypesThatASocLacksAreThoseOfTheDevice) {
  EXPECT_TRUE(Chip("Ascend910A").lacks("bfloat16"));
  EXPECT_TRUE(Chip("310P3").lacks("hifloat8"));
  EXPECT_FALSE(Chip("Ascend910A").lacks("float16"));
  EXPECT_FALSE(Chip("Ascend910B1").lacks("bfloat16"));
  EXPECT_FALSE(Chip("A3_752T").lacks("bfloat16"));
}

TEST(Figure, NamesMayBeShort) {
  EXPECT_EQ(Chip("910b3").name(), "Ascend910B3");
  EXPECT_EQ(Chip("ascend910A").value("cube_fp16"), 256);
  EXPECT_EQ(full_name("910"), "910");
}

TEST(Figure, WhatIsNotKnownHasNoValue) {
  EXPECT_FALSE(Chip("Ascend910A").value("cube_bf16"));
  EXPECT_FALSE(Chip("").value("memory"));
  EXPECT_TRUE(Chip("Ascend9999").figures().empty());
  EXPECT_EQ(Chip("Ascend9999").missing().size(), 8u);
}

}  // namespace
}  // namespace npu::profile
