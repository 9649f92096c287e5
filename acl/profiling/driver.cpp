// SPDX-License-Identifier: Apache-2.0
#include "acl/include/driver/ascend_hal.h"

int32_t halGetAPIVersion(int32_t* version) {
  constexpr int32_t kInvalidValue = 3;
  if (version == nullptr) return kInvalidValue;
  *version = 0x071904;
  return 0;
}
