// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

TEST(Error, CarriesCodeTextAndPlace) {
  try {
    fail(Code::kRtInvalidHandle, "stream {} is gone", 7);
    FAIL() << "fail returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kRtInvalidHandle);
    EXPECT_EQ(error.message(), "stream 7 is gone");
    EXPECT_STREQ(error.what(), "stream 7 is gone");
    EXPECT_STREQ(error.place().file_name(), "base/error_test.cpp");
    EXPECT_EQ(error.place().line(), 11u);
  }
}

TEST(Error, RequireRaisesOnlyWhenTheConditionFails) {
  EXPECT_NO_THROW(require(true, "never"));
  try {
    require(false, "dim is {}", 9);
    FAIL() << "require returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNnInvalidParam);
    EXPECT_EQ(error.message(), "dim is 9");
  }
}

}  // namespace
}  // namespace npu
