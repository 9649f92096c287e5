// SPDX-License-Identifier: Apache-2.0
#include "comm/core/collective_def.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "comm/core/call.h"

namespace npu::comm {
namespace {

TEST(CollectiveDef, NumbersAndNamesAreDifferent) {
  std::set<std::string> names;
  uint32_t last = 0;
  for (const CollectiveDef* row : collectives()) {
    EXPECT_GT(row->id, last);
    EXPECT_EQ(&collective(row->id), row);
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    last = row->id;
  }
  EXPECT_TRUE(names.contains("all_reduce"));
}

TEST(CollectiveDef, ANumberHasOneOwner) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static constexpr CollectiveDef kTaken{.id = 3, .name = "another"}, kBeyond{.id = kMostCollectives, .name = "beyond"};
  EXPECT_DEATH(CollectiveRegistration{kTaken}, "another has the number 3, which is out of range or that of all_reduce");
  EXPECT_DEATH(CollectiveRegistration{kBeyond}, "beyond has the number 64");
}

TEST(CollectiveDef, NumbersOfNobodyAreTold) {
  EXPECT_EQ(describe(Call{}), "nothing");
  EXPECT_STREQ(collective(63).name, "unknown");
  EXPECT_STREQ(collective(UINT32_MAX).name, "unknown");
}

}  // namespace
}  // namespace npu::comm
