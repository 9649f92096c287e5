// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/control_flow.h"

namespace npu::graph {
namespace {

const std::string& named(const Node& node, std::string_view attribute) {
  return node.attributes.get<FunctionName>(attribute).name;
}

}  // namespace

std::optional<Call> as_call(const Node& node) {
  Call call{node.kind, {}, "", 0};
  switch (node.kind) {
    case Kind::kCall: call.bodies = {named(node, "f")}; break;
    case Kind::kWhile: call.bodies = {named(node, "body")}, call.condition = named(node, "cond"); break;
    case Kind::kIf: call.bodies = {named(node, "then_branch"), named(node, "else_branch")}; break;
    case Kind::kCase:
      for (const FunctionName& branch : node.attributes.get<std::vector<FunctionName>>("branches"))
        call.bodies.push_back(branch.name);
      break;
    default: return std::nullopt;
  }
  call.selector_inputs = node.kind == Kind::kIf || node.kind == Kind::kCase ? 1 : 0;
  return call;
}

}  // namespace npu::graph
