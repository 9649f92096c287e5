// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes that feed each other become one, which goes over its elements once.
#include <algorithm>

#include "graph/ir/point.h"
#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

constexpr size_t kMostParts = 48;  // of one node

/// Nodes that only hand on what they get are worth nothing on their own.
size_t worth(const Function& f, const std::vector<NodeId>& members) {
  return static_cast<size_t>(
      std::count_if(members.begin(), members.end(), [&](NodeId id) { return part_of(f[id]).part != Part::kSame; }));
}

/// Puts together what feeds each other, once over all nodes; true when something was.
bool join_neighbours(const Function& f, const std::vector<NodeId>& order, Groups& groups, FusionCount& count) {
  bool joined = false;
  for (const NodeId id : order) {
    if (!is_elementwise(f, f[id])) continue;
    for (const Edge& edge : f[id].inputs) {
      const size_t mine = groups.of(id), theirs = groups.of(edge.node);
      if (mine == theirs || !is_elementwise(f, f[edge.node])) continue;
      if (groups.members(mine).size() + groups.members(theirs).size() > kMostParts) {
        count.decline("a node would have too many parts");
      } else if (!groups.can_join({mine, theirs})) {
        count.decline("something between them is not element-wise");
      } else {
        groups.join({theirs, mine});
        joined = true;
      }
    }
  }
  return joined;
}

}  // namespace

void fuse_elementwise(Function& f, Program&, FusionCount& count) {
  Groups groups(f);
  const std::vector<NodeId> order = f.order();
  // What stood between two groups may belong to one of them by now.
  while (join_neighbours(f, order, groups, count)) count = {};
  for (size_t group = 0; group < f.nodes.size(); ++group) {
    const std::vector<NodeId>& members = groups.members(group);
    if (members.size() < 2 || worth(f, members) < 2) continue;
    fuse(f, members, Kind::kElementwise);
    count.take();
  }
  f.compact();
}

}  // namespace npu::graph
