// SPDX-License-Identifier: Apache-2.0
// One node of a function, and what its inputs are.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/ir/attribute.h"
#include "graph/ir/dialect.h"
#include "graph/ir/kind.h"
#include "graph/ir/value_type.h"

namespace npu::graph {

/// Position in Function::nodes.
using NodeId = int32_t;

/// One result of one node.
struct Edge {
  NodeId node = -1;
  int32_t output = 0;
  bool operator==(const Edge&) const = default;
  auto operator<=>(const Edge&) const = default;
};

struct Output {
  ValueType type;
  PartialShape shape;
};

class Function;

struct Node {
  std::string name = {};           ///< unique in its function; the client's own
  Kind kind = Kind::kOpaque;       ///< what it computes
  std::string op = {};             ///< as the client spells it: to be shown, and to look up what is opaque
  std::vector<Edge> inputs = {};   ///< lists of tensors are flat, in order
  std::vector<NodeId> after = {};  ///< must have run before, without giving a value
  std::vector<Output> outputs = {};
  Attributes attributes = {};
  std::string client_name = {};             ///< as the client called it in its own function
  std::vector<std::string> functions = {};  ///< of the calls this node was inlined from, outermost first
  std::string calls = {};                   ///< those calls as the client named them, each with / behind it
  /// What a node made by a fusion pass stands for: a function of the nodes it took the place of, whose arguments are
  /// the node's inputs and whose results are its outputs. Null for all others.
  std::shared_ptr<const Function> parts = {};
  bool stateful = false;  ///< may not be dropped, merged or moved over another stateful node
  bool removed = false;   ///< dead: kept as a hole so that ids stay, until Function::compact

  /// Takes over who the client knows `other` as.
  void stand_for(const Node& other) {
    client_name = other.client_name, functions = other.functions, calls = other.calls;
  }
  /// What its meaning is registered under.
  NodeType type() const { return kind == Kind::kOpaque ? NodeType(op) : NodeType(kind); }
};

}  // namespace npu::graph
