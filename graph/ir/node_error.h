// SPDX-License-Identifier: Apache-2.0
// An Error that knows which node raised it, so that a client can point at the user's own line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/ir/function.h"

namespace npu::graph {

class NodeError : public Error {
 public:
  NodeError(const Error& cause, const Node& node)
      : Error(cause.code(), fmt::format("{} ({}): {}", node.name, node.op, cause.message()), cause.place()),
        plain_(cause.message()),
        node_(node.client_name),
        functions_(node.functions) {}

  /// What went wrong, without the node's name in front.
  const std::string& plain() const { return plain_; }
  /// The node's name in the innermost function.
  const std::string& node() const { return node_; }
  /// The functions around it, outermost first.
  const std::vector<std::string>& functions() const { return functions_; }
  void put_around(const std::vector<std::string>& outer) {
    functions_.insert(functions_.begin(), outer.begin(), outer.end());
  }
  void drop_outermost() { functions_.erase(functions_.begin()); }

 private:
  std::string plain_, node_;
  std::vector<std::string> functions_;
};

/// Runs `work`; what it raises becomes a NodeError of `node`, or gets the functions around `node` put around it.
template <class Work>
void at_node(const Node& node, Work&& work) {
  try {
    work();
  } catch (NodeError& e) {
    e.put_around(node.functions);
    throw;
  } catch (const Error& e) {
    throw NodeError(e, node);
  }
}

}  // namespace npu::graph
