// SPDX-License-Identifier: Apache-2.0
// Tables of what is no task and no call: marks of the client, memory of the device, steps of training.
#pragma once

#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// msprof_tx: a row for each mark, with the time of its stream where it has one.
void write_marks(const Trace& trace, Sink& out);
bool has_marks(const Trace& trace);

/// npu_mem: what the process (APP) holds of the device whenever that changes. What others hold is not known.
void write_memory(const Trace& trace, Sink& out);
bool has_memory(const Trace& trace);

/// step_trace: a row for each step (trace/step.h).
void write_steps(const Trace& trace, Sink& out);
bool has_steps(const Trace& trace);

}  // namespace npu::profile
