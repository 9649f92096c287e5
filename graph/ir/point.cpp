// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/point.h"

#include <map>

#include "base/error.h"

namespace npu::graph {
namespace {

// Filled while static initialisers run, in any order.
std::map<std::string_view, NodePart>& parts() {
  static std::map<std::string_view, NodePart> all;
  return all;
}

}  // namespace

void declare_part(std::string_view op, const NodePart& part) {
  if (!parts().emplace(op, part).second) fail(Code::kInternal, "node {} declares its part twice", op);
}

const NodePart& part_of(const Node& node) {
  static const NodePart none;
  const auto at = parts().find(node.op);
  return at == parts().end() ? none : at->second;
}

}  // namespace npu::graph
