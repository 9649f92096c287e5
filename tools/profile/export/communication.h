// SPDX-License-Identifier: Apache-2.0
// How long each collective took, and how much of it was waiting for other ranks: communication.json and
// communication_analyzer.db.
#pragma once

#include "tools/profile/output/draft.h"
#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

bool has_collectives(const Trace& trace);

/// An object with a member for each collective, `name@communicator`, in the vendor's words. Elapse time is what the
/// rank was in it, wait time what it slept for others, transit time the rest. Sizes are those of what the rank gave.
/// Ranks of one host share memory, which the words HCCS and SDMA (all links within a host) stand for.
void write_communication(const Trace& trace, Sink& out);
/// The same as tables of SQLite: CommAnalyzerTime, CommAnalyzerBandwidth. CommAnalyzerMatrix, what went between two
/// ranks, stays empty: it is not recorded.
void write_communication(const Trace& trace, const Draft& draft);

}  // namespace npu::profile
