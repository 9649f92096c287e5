// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/control_flow.h"

namespace npu::graph {
namespace {

const std::string& named(const Node& node, std::string_view attribute) {
  return node.attributes.get<FunctionName>(attribute).name;
}

}  // namespace

std::optional<Call> as_call(const Node& node) {
  const std::string_view op = node.op;
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall")
    return Call{CallKind::kCall, {named(node, "f")}, "", 0};
  if (op == "While" || op == "StatelessWhile")
    return Call{CallKind::kWhile, {named(node, "body")}, named(node, "cond"), 0};
  if (op == "If" || op == "StatelessIf")
    return Call{CallKind::kIf, {named(node, "then_branch"), named(node, "else_branch")}, "", 1};
  if (op != "Case" && op != "StatelessCase") return std::nullopt;
  Call call{CallKind::kCase, {}, "", 1};
  for (const FunctionName& branch : node.attributes.get<std::vector<FunctionName>>("branches"))
    call.bodies.push_back(branch.name);
  return call;
}

}  // namespace npu::graph
