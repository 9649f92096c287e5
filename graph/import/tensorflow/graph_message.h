// SPDX-License-Identifier: Apache-2.0
// A GraphDef taken apart by name, before any operator of it need be known: what stands on what, so that only what a
// model computes is read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/import/tensorflow/proto.h"
#include "graph/ir/attribute.h"

namespace npu::graph::tensorflow {

/// The parts of an input's spelling: "node:out_name:2", "node:2", "node", "^node".
struct Spelling {
  std::string_view node, output;
  int32_t index = 0;
  bool control = false;
};
Spelling spell(std::string_view input);

/// A NodeDef without the values of its attributes; `bytes` is the message.
struct NodeLink {
  std::string name, op;
  std::vector<std::string> inputs;
  std::set<std::string> functions;  ///< that its attributes name
  Bytes bytes;
};
NodeLink read_link(Bytes node_def);
/// One attribute of a NodeDef; std::monostate when it is absent.
Attribute attribute_of(Bytes node_def, std::string_view name);

struct FunctionLink {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<NodeLink> nodes;
  Bytes bytes;
};

/// Nodes and functions in the order of the message.
struct Reached {
  std::vector<const NodeLink*> nodes;
  std::vector<const FunctionLink*> functions;

  /// Raises 100024 naming the operators that are neither known nor functions of the graph, each with a node of it, and
  /// `way`, what the user can do.
  void refuse_unknown(std::string_view way) const;
};

class GraphMessage {
 public:
  /// Raises 100006 on damaged bytes, which must outlive it.
  explicit GraphMessage(Bytes graph_def);
  const std::vector<NodeLink>& nodes() const { return nodes_; }
  const FunctionLink* function(std::string_view name) const;
  /// The nodes `wanted`, what they stand on, and the functions that these call; a node of `fed` stands on nothing.
  Reached reached(const std::set<std::string>& wanted, const std::set<std::string>& fed = {}) const;
  /// The same of all nodes.
  Reached reached() const;
  /// All nodes, and all functions, called or not.
  Reached whole() const;

 private:
  class Walk;
  std::vector<NodeLink> nodes_;
  std::vector<FunctionLink> functions_;
  std::map<std::string, size_t, std::less<>> node_at_, function_at_;
};

}  // namespace npu::graph::tensorflow
