// SPDX-License-Identifier: Apache-2.0
// What passes about loops share: what stays the same from turn to turn, and giving a loop further variables.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "graph/ir/control_flow.h"
#include "graph/passes/pass.h"

namespace npu::graph {

/// The loops of a function.
std::vector<NodeId> loops_of(const Function& function);

/// Arguments that these results of `f`, and what `f` must do besides, depend on.
std::set<size_t> arguments_of(const Function& f, const std::set<size_t>& results);

/// A loop that a pass looks at and perhaps changes. The body here is a copy without calls, nodes that nobody needs and
/// nodes that hand on what they get; until `put` neither the loop nor its functions are touched.
class LoopChange {
 public:
  LoopChange(Function& f, Program& program, NodeId loop);

  Function& body() { return *body_; }
  const Function& condition() const { return *condition_; }
  /// The variable of the loop whose value in the body is `edge`, or -1.
  int64_t variable_at(Edge edge) const;
  /// Whether this variable goes out of every turn as it came in.
  bool stays(size_t variable) const;
  /// Whether `edge` of the body has one value in all turns, by what the body says: a variable that stays, a constant,
  /// or what is read through a handle that stays. Somebody else may write to what it is read from.
  bool same_in_all_turns(Edge edge) const;
  /// Uses of `edge` in the body, results included.
  size_t uses(Edge edge) const;

  /// A further variable of the loop, an object that begins as the output of a new node `start` of the caller. It stays
  /// unless the body is given another result for it. Gives its argument in the body.
  Edge add_object(Kind start);
  /// What the variable of this argument is at the end of a turn.
  void set_next(Edge argument, Edge next);
  /// The loop now runs the changed functions; `change` tells how they were changed.
  void put(std::string_view change);

 private:
  Function& f_;
  Program& program_;
  const NodeId loop_;
  const Call call_;
  std::shared_ptr<Function> body_, condition_;
  std::vector<Kind> objects_;  ///< of the nodes that make the variables added
};

}  // namespace npu::graph
