// SPDX-License-Identifier: Apache-2.0
// How long each collective took, how much of it was waiting for other ranks, and what it carried between which ranks:
// communication.json, communication_matrix.json and communication_analyzer.db.
#pragma once

#include "tools/profile/output/draft.h"
#include "tools/profile/output/sink.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

bool has_collectives(const Trace& trace);

/// An object with a member for each collective, `name@number of the communicator`, in the vendor's words. Elapse time
/// is what the rank was in it, wait time what it slept for others, transit time the rest. Sizes are those of what the
/// rank carried from or to others; of records without links, of what it gave. Ranks of one host share memory, which the
/// words HCCS and SDMA (all links within a host) stand for.
void write_communication(const Trace& trace, Sink& out);
/// By collective, "0-1": what this rank carried from rank 0 of the communicator to rank 1; where both are one, what it
/// read of its own part (LOCAL). The time of each link is that of the collective's transit: links are used at once.
void write_matrix(const Trace& trace, Sink& out);
/// The same as tables of SQLite: CommAnalyzerTime, CommAnalyzerBandwidth, CommAnalyzerMatrix.
void write_communication(const Trace& trace, const Draft& draft);

}  // namespace npu::profile
