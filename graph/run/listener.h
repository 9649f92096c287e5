// SPDX-License-Identifier: Apache-2.0
// Who watches functions being compiled and run: reports, files of graphs. Called on the thread that does it, which
// waits; a listener must not run functions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/cache/lookup.h"
#include "graph/ir/function.h"
#include "graph/ir/role.h"
#include "graph/passes/pass.h"
#include "graph/plan/plan.h"
#include "graph/value/value.h"

namespace npu::graph {

/// A plan that has just been made.
struct PlanMade {
  const Function& function;
  Role role;
  bool continues;  ///< it is for what is left of the function
  const Plan& plan;
  double milliseconds;
  const std::string& cause;                    ///< why another plan was needed; "" for the first
  std::function<Function()> with_shapes = {};  ///< the function with the types and shapes found
  std::function<Program()> program = {};       ///< all functions of the library
};

/// What a run has sent beside other steps.
struct Overlap {
  int64_t collectives = 0;
  double busy_ms = 0;    ///< how long they took, waiting for other ranks included
  double waited_ms = 0;  ///< how long steps waited for them
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// `function` is compiled for the first time.
  virtual void met(const Function& /*function*/, Role /*role*/) {}
  /// Whether staged() is to be called for functions compiled from now on.
  virtual bool wants_stages() const { return false; }
  /// A function before the first pass (stage "input") and after each pass that changed it.
  virtual void staged(std::string_view /*stage*/, const Function& /*function*/, const Program& /*program*/,
                      Role /*role*/) {}
  /// What the passes did to `function`.
  virtual void rewritten(const std::string& /*function*/, const std::vector<PassReport>& /*passes*/) {}
  /// Whether what the passes made of `function` was kept by an earlier process; not called where nothing is kept.
  virtual void looked_up(const std::string& /*function*/, const cache::Lookup& /*lookup*/) {}
  virtual void planned(const PlanMade& /*made*/) {}
  /// A fused node of `function` could not be lowered whole: its parts run one by one.
  virtual void unfused(const std::string& /*function*/, const Node& /*node*/, const std::string& /*reason*/) {}
  /// A node of `function` ran on the client's side; `in` and `out` crossed over.
  virtual void ran_on_host(const std::string& /*function*/, const Node& /*node*/, std::string_view /*reason*/,
                           std::span<const Value> /*in*/, std::span<const Value> /*out*/) {}
  /// A run of `function` has ended whose collectives ran aside.
  virtual void overlapped(const std::string& /*function*/, const Overlap& /*overlap*/) {}
};

/// Several, in the order in which they were added.
class Listeners final : public Listener {
 public:
  void add(std::shared_ptr<Listener> one) { all_.push_back(std::move(one)); }
  void met(const Function& function, Role role) override;
  bool wants_stages() const override;
  void staged(std::string_view stage, const Function& function, const Program& program, Role role) override;
  void rewritten(const std::string& function, const std::vector<PassReport>& passes) override;
  void looked_up(const std::string& function, const cache::Lookup& lookup) override;
  void planned(const PlanMade& made) override;
  void unfused(const std::string& function, const Node& node, const std::string& reason) override;
  void ran_on_host(const std::string& function, const Node& node, std::string_view reason, std::span<const Value> in,
                   std::span<const Value> out) override;
  void overlapped(const std::string& function, const Overlap& overlap) override;

 private:
  std::vector<std::shared_ptr<Listener>> all_;
};

}  // namespace npu::graph
