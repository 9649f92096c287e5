// SPDX-License-Identifier: Apache-2.0
// msprof_*.json: Chrome's trace events, as the vendor's viewers and torch_npu read them.
#pragma once

#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// Groups are processes, tracks their threads. Arrows HostToDevice lead from the moment a task was queued to its start.
void write_json(const Trace& trace, Sink& out);

}  // namespace npu::profile
