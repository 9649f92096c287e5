// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/call_type.h"

#include <gtest/gtest.h>

namespace npu::acl {
namespace {

TEST(CallType, IsTheVendors) {
  EXPECT_EQ(type_of_call("SoftmaxBackward"), "SoftmaxGrad");
  EXPECT_EQ(type_of_call("AdaptiveAvgPool2dBackward"), "AdaptiveAvgPool2dGrad");  // the first row
  EXPECT_EQ(type_of_call("Zero"), "ZerosLike");                                   // the last one
}

TEST(CallType, WhatIsNotListedKeepsItsName) {
  for (const char* name : {"Add", "", "AAA", "zzz"}) EXPECT_EQ(type_of_call(name), name);
}

}  // namespace
}  // namespace npu::acl
