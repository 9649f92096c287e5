// SPDX-License-Identifier: Apache-2.0
// The functions a client brought, compiled on first use, and the way back to the client for nodes we have no kernel of.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graph/dump/stage.h"
#include "graph/function.h"
#include "graph/precision/precision.h"
#include "graph/value.h"

namespace npu::graph {

class Executable;
class Report;

/// What a node keeps between runs: the position of a random generator.
class NodeState {
 public:
  virtual ~NodeState() = default;
  /// Goes back to where it began.
  virtual void restart() = 0;
};

/// Runs one node in the client's framework, on the calling thread; gives one value an output.
using HostNode = std::function<std::vector<Value>(const Node& node, std::span<const Value> inputs)>;

class Library {
 public:
  explicit Library(int device, HostNode host = {});
  ~Library();

  /// Adds functions; one of a name that is there replaces it for calls yet to be compiled.
  void add(const Program& program);
  /// Forgets a function that nobody will ask for again; runs of it go on.
  void remove(std::string_view name);
  /// The function, rewritten by the passes and ready to run; `role` counts when it is asked for first. Raises 161002
  /// when there is none of this name.
  std::shared_ptr<Executable> get(std::string_view name, Role role = Role::kBody);

  /// The functions as they are now.
  Program program() const {
    const std::lock_guard lock(mutex_);
    return program_;
  }

  /// The state of a node, shared by all plans of its function; made by `make` when it is asked for first, and gone when
  /// the function is replaced.
  std::shared_ptr<NodeState> state(const std::string& function, const std::string& node,
                                   const std::function<std::shared_ptr<NodeState>()>& make);
  /// All nodes go on as if they had never run.
  void restart_states();

  /// Fusion passes of these names do not run on functions compiled from now on; raises 161002 on an unknown name.
  void switch_off(std::vector<std::string> passes);
  /// Functions compiled from now on compute in the dtypes that this option asks for; see Precision::set.
  std::vector<std::string> set_precision(std::string_view option, std::string_view value);

  int device() const { return device_; }
  const HostNode& host() const { return host_; }
  Report& report() { return *report_; }

 private:
  const int device_;
  const HostNode host_;
  const std::shared_ptr<Report> report_;  ///< outlives the library where it is printed at the end of the process
  mutable std::mutex mutex_;
  Program program_;
  std::vector<std::string> off_;  ///< fusion passes that do not run
  Precision precision_;
  std::map<std::string, std::shared_ptr<Executable>, std::less<>> compiled_;
  using StatesByNode = std::map<std::string, std::shared_ptr<NodeState>>;
  std::map<std::string, StatesByNode, std::less<>> states_;  ///< by function
};

}  // namespace npu::graph
