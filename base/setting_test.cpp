// SPDX-License-Identifier: Apache-2.0
#include "base/setting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace npu {
namespace {

NPU_SETTING(int64_t, number, "ANYNPU_TEST_NUMBER", 7, "A number of the test.");
NPU_SETTING(bool, flag, "ANYNPU_TEST_SWITCH", true, "A switch of the test.");
NPU_SETTING(std::string, words, "ANYNPU_TEST_TEXT", "none", "A text of the test.");

TEST(Setting, DefaultsHoldUntilTheEnvironmentSpeaks) {
  number.reload();
  EXPECT_EQ(number(), 7);
  setenv("ANYNPU_TEST_NUMBER", "12", 1);
  EXPECT_EQ(number(), 7) << "read once";
  number.reload();
  EXPECT_EQ(number(), 12);
  EXPECT_EQ(setting_text("ANYNPU_TEST_NUMBER"), "12");
  unsetenv("ANYNPU_TEST_NUMBER");
}

TEST(Setting, AValueThatDoesNotParseIsNamedAndTheDefaultUsed) {
  setenv("ANYNPU_TEST_SWITCH", "maybe", 1);
  flag.reload();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(flag());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "anynpu: ANYNPU_TEST_SWITCH=maybe is not a valid switch; using the default 1\n");
  unsetenv("ANYNPU_TEST_SWITCH");
}

TEST(Setting, SwitchesAcceptTheUsualWords) {
  for (const char* text : {"0", "off", "false"}) {
    setenv("ANYNPU_TEST_SWITCH", text, 1);
    flag.reload();
    EXPECT_FALSE(flag()) << text;
  }
  unsetenv("ANYNPU_TEST_SWITCH");
}

TEST(Setting, AnOverrideWins) {
  words.override("a text longer than any small string keeps in place");
  EXPECT_EQ(words(), "a text longer than any small string keeps in place");
}

TEST(Setting, TheRegistryListsEverySettingOnceInOrder) {
  const auto all = settings();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.variable < b.variable; }));
  const auto at = std::find_if(all.begin(), all.end(), [](auto& s) { return s.variable == "ANYNPU_TEST_NUMBER"; });
  ASSERT_NE(at, all.end());
  EXPECT_EQ(at->type, "integer");
  EXPECT_EQ(at->default_text, "7");
  EXPECT_EQ(at->sentence, "A number of the test.");
}

TEST(Setting, OneIsFoundByItsVariable) {
  const SettingInfo* found = find_setting("ANYNPU_TEST_NUMBER");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->default_text, "7");
  EXPECT_EQ(find_setting("ANYNPU_TEST_NOTHING"), nullptr);
}

TEST(SettingDeathTest, AVariableDeclaredTwiceStopsTheProcess) {
  EXPECT_DEATH(Setting<bool>("ANYNPU_TEST_SWITCH", false, "again"), "ANYNPU_TEST_SWITCH is declared twice");
}

}  // namespace
}  // namespace npu
