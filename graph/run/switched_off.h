// SPDX-License-Identifier: Apache-2.0
// What the environment leaves out of compiling, beside what the client asks for: runs without some fusions, or with
// some nodes in the dtype of the graph, need no change of the client's program.
#pragma once

#include <string>
#include <string_view>

#include "graph/passes/pass.h"

namespace npu::graph {

/// As ANYNPU_FUSION_OFF and ANYNPU_KEEP_DTYPE say; raises 161002 for a name that no fusion has, 100003 for a file that
/// cannot be read.
void obey_environment(PassOptions& options);

/// `names`: ALL, or names of fusion passes joined by commas.
void switch_off_fusions(PassOptions& options, std::string_view names);
/// The nodes that the lines of `file` name.
void keep_dtypes(PassOptions& options, const std::string& file);

}  // namespace npu::graph
