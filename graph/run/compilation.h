// SPDX-License-Identifier: Apache-2.0
// What the host does for graphs in the eyes of who profiles the process (device/trace/record.h): compiling, how long
// and why, and nodes that the client runs. While nobody records, each is one load.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device/trace/record.h"
#include "graph/ir/function.h"
#include "graph/ir/role.h"
#include "graph/plan/surroundings.h"
#include "graph/value/value.h"

namespace npu::graph {

/// Why something is compiled.
struct Cause {
  device::trace::Need need = device::trace::Need::kFirst;
  std::string text = {};  ///< what is new, in words; "" of what nobody has met before
};

/// The functions that a client handed over, by their names without the numbers that frameworks put behind them: step of
/// step_59. A second one is the same function traced anew, or another of that name.
class Predecessors {
 public:
  /// Why `function`, which the client asks for, had to be met; it is known from then on.
  Cause meet(const Function& function);

 private:
  struct Known {
    std::vector<std::string> names, types;  ///< of its arguments
  };
  std::map<std::string, Known, std::less<>> known_;
};

/// Passes over a function or the making of a plan, from here on.
class Compilation {
 public:
  explicit Compilation(device::trace::HostWork work);
  void finish(const Function& function, Role role, int device, const Cause& cause) const;

 private:
  const device::trace::HostWork work_;
  const int64_t start_;
};

/// A node that the client computes, from here on.
class HostRun {
 public:
  HostRun();
  /// `in` and `out` crossed over.
  void finish(const HostStep& step, int device, std::span<const Value> in, std::span<const Value> out) const;

 private:
  const int64_t start_;
};

}  // namespace npu::graph
