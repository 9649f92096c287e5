// SPDX-License-Identifier: Apache-2.0
// Dumps of the process: those that a configuration asks for.
#pragma once

#include "acl/runtime/config.h"

namespace npu::acl {

/// Begins what it asks for; what goes wrong later is told once on stderr and in the process log.
void begin_dumps(Config config);

}  // namespace npu::acl
