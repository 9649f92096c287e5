// SPDX-License-Identifier: Apache-2.0
// msprof_*.json: Chrome's trace events, as the vendor's viewers and torch_npu read them.
#pragma once

#include <ostream>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// Processes "CANN" (threads of the host) and, for each device, "Ascend Hardware" (its streams), "Communication" and
/// "Overlap Analysis". Arrows HostToDevice lead from the moment a task was queued to its start. Slices of a row lie
/// inside of each other or apart.
void write_timeline(const Trace& trace, std::ostream& out);

}  // namespace npu::profile
