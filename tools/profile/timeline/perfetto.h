// SPDX-License-Identifier: Apache-2.0
// msprof_*.perfetto-trace: what msprof_*.json has, as ui.perfetto.dev and its trace_processor read fastest.
#pragma once

#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// The host is a process with its threads; each device is a track that has groups, which have streams. Times are
/// nanoseconds of CLOCK_REALTIME, names stand there once. A launch is an instant of its thread; a flow leads from it to
/// its task. What a key only repeats, as the stream's number, or has no value is left out.
void write_perfetto(const Trace& trace, Sink& out);

}  // namespace npu::profile
