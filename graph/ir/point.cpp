// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/point.h"

#include <map>

#include "base/error.h"

namespace npu::graph {
namespace {

// Filled while static initialisers run, in any order.
std::map<NodeType, NodePart>& parts() {
  static std::map<NodeType, NodePart> all;
  return all;
}

}  // namespace

void declare_part(NodeType type, const NodePart& part) {
  if (!parts().emplace(type, part).second) fail(Code::kInternal, "node {} declares its part twice", to_string(type));
}

const NodePart& part_of(const Node& node) {
  static const NodePart none;
  const auto at = parts().find(node.type());
  return at == parts().end() ? none : at->second;
}

}  // namespace npu::graph
