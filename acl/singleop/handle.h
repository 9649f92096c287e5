// SPDX-License-Identifier: Apache-2.0
// What stands behind aclopHandle: a call that is prepared and gets its memory later.
#pragma once

#include <functional>
#include <span>

#include "acl/include/acl/acl_op.h"

struct aclopHandle {
  using Inputs = std::span<const aclDataBuffer* const>;
  using Outputs = std::span<aclDataBuffer* const>;
  /// Queues one run. Answers the code of a function of the door that has kept its text, or raises.
  std::function<aclError(Inputs, Outputs, aclrtStream)> run;
};
