// SPDX-License-Identifier: Apache-2.0
// What a run asks of the place where its function lives: its library.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "graph/ir/role.h"
#include "graph/plan/surroundings.h"
#include "graph/run/listener.h"
#include "graph/value/value.h"

namespace npu::graph {

class Executable;

/// Runs one node in the client's framework, on the calling thread; gives one value an output.
using HostNode = std::function<std::vector<Value>(const Node& node, std::span<const Value> inputs)>;

class Environment : public Surroundings {
 public:
  /// The function, rewritten by the passes and ready to run; `role` counts when it is asked for first. Raises 161002
  /// when there is none of this name.
  virtual std::shared_ptr<Executable> get(std::string_view name, Role role) = 0;
  std::shared_ptr<Executable> body(std::string_view name) { return get(name, Role::kBody); }
  /// The functions as they are now.
  virtual Program program() const = 0;
  virtual const HostNode& host() const = 0;
  virtual Listener& listener() = 0;
  void unfused(const std::string& function, const Node& node, const std::string& reason) override {
    listener().unfused(function, node, reason);
  }
};

}  // namespace npu::graph
