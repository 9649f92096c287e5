// SPDX-License-Identifier: Apache-2.0
// What planning asks of the place where a function lives: its library (run/library.h), or a test's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/ir/function.h"
#include "graph/plan/plan.h"

namespace npu::graph {

/// What a node keeps between runs: the position of a random generator.
class NodeState {
 public:
  virtual ~NodeState() = default;
  /// Goes back to where it began.
  virtual void restart() = 0;
};

/// A node that the client's framework runs.
struct HostStep {
  Node node;
  std::string function, reason;  ///< where it stands, and why it does not run here
  std::vector<Planned> inputs, outputs;
};

class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual int device() const = 0;
  /// The body of a step that runs a node in the client's framework; none where no client is there.
  virtual std::function<void(Frame&)> on_host(HostStep step) = 0;
  /// The state of a node, shared by all plans of its function; made by `make` when it is asked for first, and gone when
  /// the function is replaced.
  virtual std::shared_ptr<NodeState> state(const std::string& function, const std::string& node,
                                           const std::function<std::shared_ptr<NodeState>()>& make) = 0;
  /// Hears of a fused node that could not be lowered whole: its parts run one by one.
  virtual void unfused(const std::string& function, const Node& node, const std::string& reason) = 0;
  /// The elements of a large constant in another type, where a plan of this place has converted them already: weights
  /// are converted once, not in each plan.
  virtual std::optional<Literal> converted(const Literal& /*from*/, DType /*to*/) { return {}; }
  /// Lets later plans find them, for as long as one holds them.
  virtual void keep_converted(const Literal& /*from*/, const Literal& /*to*/) {}
  /// Whether collectives run beside nodes that do not need their results.
  virtual bool overlaps() { return false; }
  /// Whether the parts of a fused node were measured to be faster than the node on inputs like these.
  virtual bool prefers_parts(const Node& /*node*/, std::span<const Planned> /*inputs*/) { return false; }
};

}  // namespace npu::graph
