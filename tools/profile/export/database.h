// SPDX-License-Identifier: Apache-2.0
// The facts of a collection as an SQLite file, in the tables and columns of the vendor's msprof_*.db. Times are
// nanoseconds since 1970; names, types and shapes are numbers of STRING_IDS.
#pragma once

#include "tools/profile/output/draft.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// TASK (all), COMPUTE_TASK_INFO (operators), COMMUNICATION_OP (collectives), CANN_API (calls, and a "launch" of each
/// task that joins it by connectionId), OVERLAP_ANALYSIS, OP_STATISTIC (ours: time by type), NPU_INFO,
/// SESSION_TIME_INFO, META_DATA, ENUM_API_TYPE. Raises npu::Error when the file cannot be written.
void write_database(const Trace& trace, const Draft& draft);

}  // namespace npu::profile
