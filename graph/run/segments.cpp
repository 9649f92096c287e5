// SPDX-License-Identifier: Apache-2.0
#include "graph/run/segments.h"

#include <fmt/format.h>

#include "base/log.h"

namespace npu::graph {

std::vector<std::string> segments_of(const Function& function) {
  std::vector<std::string> out;
  for (const Node& node : function.nodes) {
    const auto* segments = node.removed ? nullptr : node.attributes.find<std::string>("_segments");
    if (segments == nullptr) continue;
    out.push_back(fmt::format("group {}, {}: segment index list: {}", node.attributes.get<std::string>("group"),
                              name_of(node.outputs.front().type.dtype), *segments));
  }
  return out;
}

void log_segments(const Function& function) {
  if (!log_enabled(LogLevel::kInfo, "HCCL")) return;
  for (const std::string& line : segments_of(function)) NPU_LOG(kInfo, "HCCL", "segment result: {}", line);
}

}  // namespace npu::graph
