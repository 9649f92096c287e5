// SPDX-License-Identifier: Apache-2.0
// Parts of a function copied into a function of their own: bodies of loops, branches.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// Copies nodes of one function into another.
class Closure {
 public:
  /// What stands for a value of `from` in `into`; none: the node that gives it is to be copied.
  using Given = std::function<std::optional<Edge>(Edge)>;
  /// Whether a node that others wait for is copied; others are left out.
  using Member = std::function<bool(NodeId)>;

  Closure(const Function& from, Function& into, Given given, Member member)
      : from_(from), into_(into), given_(std::move(given)), member_(std::move(member)) {}

  /// Copies all that these values stand on and these nodes, in the order of `from`. To be called once.
  void copy(const std::vector<Edge>& values, const std::vector<NodeId>& nodes);
  /// What a value of `from` is now.
  Edge at(Edge edge) const;
  const std::map<NodeId, NodeId>& copied() const { return copied_; }

 private:
  void want(Edge edge);
  void want(NodeId id);
  void copy(NodeId id);

  const Function& from_;
  Function& into_;
  const Given given_;
  const Member member_;
  std::vector<NodeId> open_;
  std::map<NodeId, bool> wanted_;
  std::map<NodeId, NodeId> copied_;
};

/// Attribute `name` of `from` under another name, with the client's bytes.
void copy_attribute(const Attributes& from, std::string_view name, Attributes& into, std::string_view as);

/// Each of them once, in the order of their nodes.
void sort_control_results(Function& f);

}  // namespace npu::graph::tensorflow
