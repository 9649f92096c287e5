// SPDX-License-Identifier: Apache-2.0
// The tables of a collection, in the columns of the vendor's msprof. Times are microseconds. What only counters of the
// chip know is N/A.
#pragma once

#include <array>
#include <string>

#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

struct Table {
  const char* name;  ///< of the file, before its time
  void (*write)(const Trace& trace, Sink& out);
  bool (*has_rows)(const Trace& trace);
};
/// op_summary, op_statistic, task_time, api_statistic, communication_statistic.
extern const Table kTables[5];

/// Shapes, types and formats of a record's text. Shapes have quotes of their own, which the vendor's analysers cut off.
std::array<std::string, 3> parts_of(std::string_view text);
/// "a,b" as a cell, with quotes where it needs them.
std::string cell(std::string_view text);

}  // namespace npu::profile
