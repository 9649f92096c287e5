// SPDX-License-Identifier: Apache-2.0
// The intermediate form: functions of nodes in static single assignment. Control flow is functional (While, If, Case
// and calls name other functions of the program), so a node list plus edges says everything.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/node.h"

namespace npu::graph {

struct Argument {
  std::string name;
  Output value;
  NodeId node = -1;  ///< the node that stands for it
};

struct Result {
  std::string name;
  Edge value;
};

class Function {
 public:
  Function(std::string function_name, const Dialect& client) : name(std::move(function_name)), dialect(&client) {}

  /// Appends a node; its name gets a suffix when it is taken. One without spelling gets that of its kind.
  NodeId add(Node node);
  NodeId add_argument(std::string argument_name, Output value);
  NodeId add_constant(std::string constant_name, Literal value);
  /// The node of this name, or -1.
  NodeId find(std::string_view node_name) const;
  /// Another name for a node; it gets a suffix when it is taken.
  void rename(NodeId id, std::string node_name);

  Node& operator[](NodeId id) { return nodes[static_cast<size_t>(id)]; }
  const Node& operator[](NodeId id) const { return nodes[static_cast<size_t>(id)]; }
  const Output& output(Edge edge) const { return (*this)[edge.node].outputs[static_cast<size_t>(edge.output)]; }

  /// Live nodes so that each stands after its inputs and its `after` nodes; among free choices the order of the list.
  /// Raises 161002 naming a node on a cycle.
  std::vector<NodeId> order() const;
  /// By node: whether these nodes, or one that they wait for, directly or not, is it.
  std::vector<bool> needed_for(const std::vector<NodeId>& wanted) const;
  /// Every use of `from`, results included, becomes a use of `to`.
  void replace(Edge from, Edge to);
  /// Marks a node dead. Its outputs must have no use left; whoever waited for it now waits for what it waited for.
  void remove(NodeId id);
  /// Drops dead nodes and renumbers the others.
  void compact();
  /// The same, and the nodes stand in this order, which names each of them.
  void arrange(const std::vector<NodeId>& order);

  std::string name;
  const Dialect* dialect;  ///< the client's words, for nodes that passes make
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<NodeId> control_results;  ///< must run although no result depends on them
  std::vector<Node> nodes;

 private:
  std::string free_name(std::string wanted, NodeId id);
  std::map<std::string, NodeId, std::less<>> names_;
};

/// Functions by name; a node's FunctionName attributes refer to them.
struct Program {
  std::map<std::string, std::shared_ptr<Function>, std::less<>> functions;

  /// Raises 161002 when there is no such function.
  Function& get(std::string_view name) const;
  const std::shared_ptr<Function>& add(std::shared_ptr<Function> function);
};

/// The nodes that `node` took the place of, in order; none but itself for most.
std::vector<const Node*> origins(const Node& node);

/// Which output of which node in the client's graph an output of `node` is; no node where it is none's.
struct Origin {
  const Node* node;
  int64_t output;
};
Origin origin_of(const Node& node, int64_t output);

/// The functions `node` calls, in the order of its attributes' names.
std::vector<FunctionName> called_functions(const Node& node);

}  // namespace npu::graph
