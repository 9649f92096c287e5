// SPDX-License-Identifier: Apache-2.0
// The tables of a collection, in the columns of the vendor's msprof. Times are microseconds. What only counters of the
// chip know is N/A.
#pragma once

#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

struct Table {
  const char* name;  ///< of the file, before its time
  void (*write)(const Trace& trace, Sink& out);
  bool (*has_rows)(const Trace& trace);
};
/// op_summary, op_statistic, task_time, api_statistic, communication_statistic, msprof_tx, npu_mem, step_trace.
extern const Table kTables[8];

}  // namespace npu::profile
