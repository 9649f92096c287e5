// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "acl/include/aclnn/aclnn_base.h"

namespace {

TEST(AclnnInit, OnceAndWithAFileThatIsRead) {
  EXPECT_EQ(aclnnFinalize(), 100001);
  EXPECT_EQ(aclnnInit("/nowhere/acl.json"), 100003);
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(aclnnInit(nullptr), 100002);
  EXPECT_EQ(aclnnFinalize(), 0);
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(aclnnFinalize(), 0);
}

}  // namespace
