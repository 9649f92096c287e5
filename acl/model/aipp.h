// SPDX-License-Identifier: Apache-2.0
// What stands behind aclmdlAIPP: the block of memory that the operator reads, in parts.
#pragma once

#include <string>
#include <vector>

#include "acl/include/acl/acl_mdl_aipp.h"
#include "acl/singleop/description.h"
#include "ops/image/aipp_block.h"

struct aclmdlAIPP {
  npu::ops::AippHead head;
  std::vector<npu::ops::AippPicture> pictures;

  /// The block as the model's input takes it. Raises 100000 where sizes or formats do not fit each other.
  std::string block() const;
};
