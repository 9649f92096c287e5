// SPDX-License-Identifier: Apache-2.0
// What fusion passes share: who uses a node, whether nodes may become one, and making them one.
#pragma once

#include <utility>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// Who waits for whom in a function, kept up to date while groups of nodes are put together in mind.
class Groups {
 public:
  explicit Groups(const Function& function);

  /// The group of a node: all that will be one node with it.
  size_t of(NodeId id) const { return group_[static_cast<size_t>(id)]; }
  const std::vector<NodeId>& members(size_t group) const { return members_[group]; }
  /// Whether these groups can become one: nothing outside may wait for one of them while another waits for it. A search
  /// that would take too long counts as a no.
  bool can_join(const std::vector<size_t>& groups) const;
  /// Makes them one and gives it.
  size_t join(const std::vector<size_t>& groups);

 private:
  const Function& f_;
  std::vector<size_t> group_;                 ///< by node
  std::vector<std::vector<NodeId>> members_;  ///< by group; empty when it went into another
  std::vector<std::vector<NodeId>> waiting_;  ///< by node: those that use it or wait for it
  mutable std::vector<uint32_t> seen_;        ///< by group: the search that met it last
  mutable uint32_t search_ = 0;
};

/// A node that was made of others, and what its inputs and outputs were before.
struct FusedNode {
  NodeId id = -1;
  std::vector<Edge> inputs, outputs;
};

/// Where a fused node stands. Of two nodes that cannot run the one that stands first is told to the user.
enum class Stands : uint8_t { kFirst, kLast };

/// Puts one node of this kind in the place of `members` (live nodes that may become one, see Groups). It stands
/// where the last of them stood (or the first, as far as its inputs are there by then), under the last one's name, and
/// its `parts` are they. Ids of other nodes stay. Nodes in `again`, on which members depend and which have no effect,
/// stay where they are and are computed again inside: what a gradient needs of the way forward need not be kept for it.
FusedNode fuse(Function& function, const std::vector<NodeId>& members, Kind kind, const std::vector<NodeId>& again = {},
               Stands stands = Stands::kLast);

/// Tells the lowering of a fused node which of its inputs and outputs is what: attributes of these names hold their
/// positions. What is absent (an edge without node, an output that nobody reads) gets none.
using Roles = std::vector<std::pair<const char*, Edge>>;
void set_input_roles(Function& function, const FusedNode& fused, const Roles& roles);
void set_output_roles(Function& function, const FusedNode& fused, const Roles& roles);

/// Lets a fused node bring or read what its parts know nothing of: where the parts are run instead, an output added so
/// holds one zero, and an input is not read.
Edge add_output(Function& function, NodeId fused, const std::string& name, ValueType type);
void add_input(Function& function, NodeId fused, Edge edge);

/// Whether these nodes may become one.
bool can_fuse(const Function& function, const std::vector<NodeId>& members);

/// True for a node whose result takes part in element-wise chains: of floating type or bool, without effect.
bool is_elementwise(const Function& function, const Node& node);

}  // namespace npu::graph
