// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "acl/include/acl/acl.h"
#include "acl/include/hccl/hccl.h"

TEST(HcclConfig, DeterminismIsAcceptedOthersRefused) {
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, {1}), HCCL_SUCCESS);
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, {9}), HCCL_E_PARA);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("configValue is 9"), std::string::npos);
  EXPECT_EQ(HcclSetConfig(static_cast<HcclConfig>(5), {1}), HCCL_E_PARA);
}
