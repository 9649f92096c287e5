// SPDX-License-Identifier: Apache-2.0
// Data dumps as the functions of the C interface begin and end them.
#pragma once

#include "graph/dump/tensor/dump_config.h"

namespace npu::acl {

/// Begins a dump; what goes wrong later is told once on stderr and in the process log.
void begin_dump(graph::DumpConfig config);

}  // namespace npu::acl
