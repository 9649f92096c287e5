// SPDX-License-Identifier: Apache-2.0
// The functions a client brought, compiled on first use, and the way back to the client for nodes we have no kernel of.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "graph/cache/cache.h"
#include "graph/ir/function.h"
#include "graph/precision/precision.h"
#include "graph/run/compilation.h"
#include "graph/run/conversions.h"
#include "graph/run/environment.h"
#include "graph/value/value.h"

namespace npu::graph {

/// Functions whose names are equal up to this sign share what their nodes keep between runs: those of one session.
inline constexpr char kSharedBefore = '@';

class Library : public Environment {
 public:
  explicit Library(int device, HostNode host = {});
  ~Library() override;

  /// Hears of all that is compiled and run from now on; to be called before the first function is.
  void listen(std::shared_ptr<Listener> listener) { listeners_.add(std::move(listener)); }

  /// Adds functions; one of a name that is there replaces it for calls yet to be compiled.
  void add(const Program& program);
  /// The same for functions that went through the passes before, as a model file keeps them.
  void add_rewritten(const Program& program);
  /// Forgets a function that nobody will ask for again; runs of it go on.
  void remove(std::string_view name);
  std::shared_ptr<Executable> get(std::string_view name, Role role = Role::kBody) override;
  std::function<void(Frame&)> on_host(HostStep step) override;

  Program program() const override {
    const std::lock_guard lock(mutex_);
    return program_;
  }

  std::shared_ptr<NodeState> state(const std::string& function, const std::string& node,
                                   const std::function<std::shared_ptr<NodeState>()>& make) override;
  /// All nodes go on as if they had never run.
  void restart_states();

  /// Fusion passes of these names do not run on functions compiled from now on; raises 161002 on an unknown name.
  void switch_off(std::vector<std::string> passes);
  /// Functions compiled from now on compute in the dtypes that this option asks for; see Precision::set.
  std::vector<std::string> set_precision(std::string_view option, std::string_view value);

  /// Functions compiled from now on are kept there, and taken from there; null: they are not.
  void keep_in(std::shared_ptr<cache::Cache> cache);

  /// Whether the collectives of functions compiled from now on run beside nodes that do not need their results.
  void overlap(bool on);

  int device() const override { return device_; }
  const HostNode& host() const override { return host_; }
  Listener& listener() override { return listeners_; }
  bool overlaps() override { return overlaps_; }
  bool prefers_parts(const Node& node, std::span<const Planned> inputs) override;
  std::optional<Literal> converted(const Literal& from, DType to) override { return conversions_.find(from, to); }
  void keep_converted(const Literal& from, const Literal& to) override { conversions_.keep(from, to); }

 private:
  void rewrite(Function& function, const PassOptions& options, Role role);

  const int device_;
  const HostNode host_;
  Listeners listeners_;
  mutable std::mutex mutex_;
  Program program_;
  std::set<std::string, std::less<>> rewritten_;  ///< functions that passes leave alone
  std::vector<std::string> off_;                  ///< fusion passes that do not run
  Precision precision_;
  bool overlaps_ = false;
  Conversions conversions_;
  Predecessors predecessors_;
  std::shared_ptr<cache::Cache> cache_;
  std::map<std::string, std::shared_ptr<Executable>, std::less<>> compiled_;
  using StatesByNode = std::map<std::string, std::shared_ptr<NodeState>>;
  std::map<std::string, StatesByNode, std::less<>> states_;  ///< by function
};

}  // namespace npu::graph
