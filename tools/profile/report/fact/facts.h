// SPDX-License-Identifier: Apache-2.0
// What is known of one device of one process: sums over its records.
#pragma once

#include <string>
#include <vector>

#include "tools/profile/report/fact/frame.h"
#include "tools/profile/report/fact/idle.h"
#include "tools/profile/report/fact/memory.h"
#include "tools/profile/report/fact/step_part.h"

namespace npu::profile {

struct Row {
  std::string name, unit = {};
  Total total;
};
/// The largest first.
using Rows = std::vector<Row>;

struct Facts {
  const Trace* trace = nullptr;
  std::string name;  ///< "NPU 0, process 77"
  int device = 0;
  std::vector<TaskRecord> tasks;
  Host host;
  Interval span;  ///< from its first task to its last
  Overlap overlap;
  int64_t busy = 0;  ///< computes, communicates or copies
  Idle idle;
  int64_t waited = 0;  ///< in collectives, for other ranks
  std::vector<Step> steps;
  std::vector<StepPart> step_parts;
  Rows types, units, streams;
  Rows calls;       ///< of the process
  Rows compiled;    ///< functions, and why
  Rows host_nodes;  ///< by type
  MemoryUse memory;
  Owners owners;
  Modules modules;

  int64_t length() const { return span.end - span.start; }
  double share(int64_t time) const {
    return length() > 0 ? static_cast<double>(time) / static_cast<double>(length()) : 0;
  }
};

/// One for each device that something ran on. They point into `traces`.
std::vector<Facts> facts_of(const std::vector<Trace>& traces);

/// Rows of calls, by name.
Rows calls_of(const Trace& trace);
/// Rows of what was compiled for a device, by function and why; of nodes of its graphs that the client computed, by
/// type.
Rows compiled_of(const Trace& trace, int device);
Rows host_nodes_of(const Trace& trace, int device);
/// Rows of what ran on devices, by type and unit.
Rows types_of(const Trace& trace, const std::vector<TaskRecord>& tasks);

}  // namespace npu::profile
