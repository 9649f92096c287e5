// SPDX-License-Identifier: Apache-2.0
// Marks and memory in the database, each in tables that are there where there are rows.
#pragma once

#include <cstdint>

#include "tools/profile/export/sqlite.h"
#include "tools/profile/export/string_ids.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// MSTX_EVENTS; a mark of a stream is a row of TASK too, with the same connection. `last` is the last one so far.
void write_mark_events(const Trace& trace, StringIds& ids, Database& database, uint64_t last);
/// NPU_MEM.
void write_memory_events(const Trace& trace, StringIds& ids, Database& database);

}  // namespace npu::profile
