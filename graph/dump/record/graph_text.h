// SPDX-License-Identifier: Apache-2.0
// A dumped graph (ge_proto_*_Build.txt, protobuf's text format) in the form that fusion files (atc --mode=5) have.
#pragma once

#include <string_view>

#include "base/json.h"

namespace npu::graph::record {

/// Raises 100006 with the line for what is no such text.
Json parse_graph_text(std::string_view text);

}  // namespace npu::graph::record
