// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

/// What must run: results, control results, and all they stand on. A stateful node nobody waits for is dead too;
/// importers name those that must run as control results.
std::vector<bool> needed(const Function& f) {
  std::vector<NodeId> wanted = f.control_results;
  for (const Argument& argument : f.arguments) wanted.push_back(argument.node);
  for (const Result& result : f.results) wanted.push_back(result.value.node);
  return f.needed_for(wanted);
}

}  // namespace

bool drop_dead_nodes(Function& f, const Program&) {
  const std::vector<bool> live = needed(f);
  bool changed = false;
  for (size_t i = 0; i < live.size(); ++i) {
    changed |= !live[i];
    f.nodes[i].removed |= !live[i];
  }
  f.compact();
  return changed;
}

}  // namespace npu::graph
