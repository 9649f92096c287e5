// SPDX-License-Identifier: Apache-2.0
// A pass rewrites one function. The runner (runner.cpp) holds all of them in order, times each and verifies after it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/function.h"

namespace npu::graph {

struct Pass {
  std::string_view name;
  std::string_view purpose;  ///< one sentence, shown by `anynpu settings` and in docs
  /// Rewrites `function`, which may call others of `program`; true when it changed something.
  bool (*run)(Function& function, const Program& program);
};

/// All passes, in the order in which they run.
const std::vector<Pass>& all_passes();

struct PassReport {
  std::string_view name;
  double milliseconds = 0;
  size_t nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

struct PassOptions {
  std::vector<std::string> skip;  ///< names of passes left out
  /// Called with the function before the first pass (stage "input") and after each that changed it.
  std::function<void(std::string_view stage, const Function&)> watch;
};

/// Runs all passes on `function` and verifies after each. Raises 161002 on an unknown name in `skip`, 500000 naming the
/// pass that left the function broken.
std::vector<PassReport> run_passes(Function& function, const Program& program, const PassOptions& options = {});

// The passes, one file each.
bool inline_calls(Function& function, const Program& program);
bool drop_dead_nodes(Function& function, const Program& program);
bool merge_equal_nodes(Function& function, const Program& program);

}  // namespace npu::graph
